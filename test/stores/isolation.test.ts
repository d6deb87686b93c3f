import { beforeAll, describe, expect, test } from "vitest";
import { addSite, type SiteReference } from "../../src/stores/site.js";
import { recordEvents } from "../../src/events/record/events.record.js";
import { saveLiveStream } from "../../src/shows/liveStream.save.js";
import { saveMoments } from "../../src/shows/moments/moments.save.js";
import { foldTotals } from "../../src/events/record/fold.js";
import { importProducts } from "../../src/catalog/import/entryPoints/jsonProducts.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { type Answer, answerTo, asksOf, type Names, type Operation, operations } from "../support/access/calls.js";
import { order, view } from "../support/events.js";
import { asInputs } from "../support/figures.js";
import { recordedOrders, sentOrder } from "../support/figures/orders.js";
import { paths, product } from "../support/products.js";
import { recorded, saved } from "../support/shows.js";
import { digestOf } from "../support/stored.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0, subscriptionRateLimit: 0 });

const startedAt = "2026-05-04T18:30:00.000Z";
/** The product and the show that a stranger has itself: they come after the owner's in every list. */
const own = "zz-own";

/** What an owner's data is named by, or what nobody's is: both names have the same length and the same place in every order. */
function namesOf(which: "owned" | "other"): Names {
  const [id, sku, show, event] = ["p", "sku", "show", "event"].map((kind) => `${kind}-${which}`) as [
    string,
    string,
    string,
    string,
  ];
  const cursors = [[id], [startedAt, show], [startedAt, event], [1, id], [20, show]];
  const after = cursors.map((key) => Buffer.from(JSON.stringify(key)).toString("base64url"));
  const site = `site-${which}`;
  const by = {
    id: [id, event, show, own],
    productId: [id, sku, own],
    sku: [sku, id],
    siteId: [site],
    siteType: ["SHOP"],
    lsId: [show, own],
    viewerId: [`viewer-${which}`],
    orderId: [event],
    device: ["watch"],
    source: ["mail"],
    title: ["Ours"],
    description: ["Ours"],
    name: ["Ours"],
    host: [`Robin ${which}`],
    search: [`Secret ${which}`, id, sku],
    after,
  };
  return { by, every: [id, event, show, sku, site, `viewer-${which}`, own] };
}

const [owned, other] = [namesOf("owned"), namesOf("other")];

const importOf = (store: TestStore, list: readonly object[], site?: SiteReference) =>
  importProducts(app.db, store.id, list, { site });

/** A store with something in everything that can be named. */
async function createOwner(): Promise<TestStore> {
  const store = await createTestStore(app);
  await app.db.store.update({ where: { id: store.id }, data: { name: "Secret store" } });
  await addSite(app.db, store.id, "site-owned", "SHOP");
  await importOf(store, [product("p-owned", { sku: "sku-owned", title: "Secret owned", price: 12 })], {
    siteId: "site-owned",
    siteType: "SHOP",
  });
  const host = { name: "Robin owned", email: "robin@secret.example" };
  const show = {
    name: "Secret owned",
    status: "ENDED",
    startedAt: new Date(startedAt),
    durationSeconds: 3_600,
    host,
  } as const;
  await saveLiveStream(app.db, store.id, { id: "show-owned", ...show });
  const viewerId = "viewer-owned";
  const moment = {
    id: "p-owned",
    kind: "PIN",
    startedAt: show.startedAt,
    productId: "p-owned",
    title: "Secret",
  } as const;
  await saveMoments(app.db, store.id, "show-owned", [moment]);
  const occurredAt = startedAt; // within the range that is asked for
  const events = [
    view("view-owned", { viewerId, occurredAt }),
    order("event-owned", 20, { viewerId, productId: "p-owned", occurredAt }),
    { id: "cart-owned", type: "ADD_TO_CART", channel: "LIVE", viewerId, productId: "p-owned", occurredAt },
  ] as const;
  await recordEvents(app.db, store.id, "show-owned", asInputs(events));
  const lines = [{ productId: "p-owned", quantity: 1, amount: 30 }];
  await recordedOrders(store, [sentOrder("event-owned", 30, { viewerId, placedAt: startedAt, lines })]);
  await foldTotals(app.db, store.id, "show-owned"); // the sweep has nothing left to change
  return store;
}

/** A store with a product and a show of its own. */
async function createStranger(): Promise<TestStore> {
  const stranger = await createTestStore(app);
  await importOf(stranger, [product(own, { title: "Own" })]);
  const show = {
    name: "Own",
    status: "ENDED",
    startedAt: new Date("2026-01-01T00:00:00Z"),
    durationSeconds: 60,
  } as const;
  await saveLiveStream(app.db, stranger.id, { id: own, ...show });
  return stranger;
}

const varying = new Set(["date", "x-request-id", "etag", "content-length"]);

/** Answers without what differs from one store to the next, and with the names that nobody has for those that the owner has. */
function comparable(answers: readonly Answer[], { id }: Pick<TestStore, "id">) {
  return answers.map(({ status, headers, text }) => ({
    status,
    headers: headers.filter(([name]) => !varying.has(name)),
    text: text
      .replaceAll(/(?<=Cursor":")[\w-]+/gu, (cursor) =>
        String(JSON.parse(Buffer.from(cursor, "base64url").toString()).at(-1)),
      )
      .replaceAll(/"20\d\d-[\d-]+T[\d:.]+Z"/gu, '"time"')
      .replaceAll(id, "store")
      .replaceAll("owned", "other"),
  }));
}

const succeeded = ({ status, text }: Answer) => status < 300 && !text.includes('"errors":[');

/** What a store is answered to every form of every call of an operation by these names, until one answer is enough. */
async function answersTo(
  store: TestStore,
  operation: Operation,
  names: Names,
  isEnough?: (answer: Answer) => Promise<boolean>,
) {
  const answers: Answer[] = [];
  const given = asksOf(operation, names);
  // What is the same but for one more name is sent in the first form alone.
  const sent = given.flatMap((each, index) => operation.calls(each).slice(0, index < 4 ? undefined : 1));
  for (const call of sent) {
    const answer = await answerTo(store, call);
    answers.push(answer);
    if ((await isEnough?.(answer)) === true) break;
  }
  return answers;
}

describe("what another store has is as if it were not there, and is not changed:", () => {
  const named = operations.map((operation) => [operation.name, operation] as const);
  const reads = named.filter(([, { isRead }]) => isRead);
  const writes = named.filter(([, { isRead }]) => !isRead);

  describe("read", () => {
    /** What a store is answered that names what nobody has, before there is an owner. */
    const alone = new Map<string, ReturnType<typeof comparable>>();
    let stranger: TestStore;
    let owner: TestStore;
    let unchanged: string[];
    const digests = async () => [await digestOf(app, stranger), await digestOf(app, owner)];
    beforeAll(async () => {
      stranger = await createStranger();
    });
    for (const [name, operation] of reads) {
      beforeAll(async () => {
        alone.set(name, comparable(await answersTo(stranger, operation, other), stranger));
      });
    }
    beforeAll(async () => {
      owner = await createOwner();
      unchanged = await digests();
    });

    test.each(reads)("%s", async (name, operation) => {
      const answers = await answersTo(stranger, operation, owned);
      expect(comparable(answers, stranger)).toEqual(alone.get(name));
      expectNothingOf(operation, answers);
      const known = new Set(answers.map(({ text }) => text));
      await expectAny(owner, operation, (answer) => !known.has(answer.text));
    });

    test("which changes nothing", async () => {
      expect(await digests()).toEqual(unchanged);
    });
  });

  describe("written", () => {
    let owner: TestStore;
    beforeAll(async () => {
      owner = await createOwner();
    });

    test.each(writes)("%s", async (name, operation) => {
      const all = await digestOf(app, owner);
      const [before, stranger] = [await createStranger(), await createStranger()];
      const alone = comparable(await answersTo(before, operation, other), before);
      const answers = await answersTo(stranger, operation, owned);
      expect(comparable(answers, stranger)).toEqual(alone);
      expectNothingOf(operation, answers);
      expect(await digestOf(app, owner)).toBe(all);
      // Imports by path do what their fields do: there the owner need only be answered, and is not made anew.
      const isImport = name.startsWith("POST /external/product");
      await expectAny(owner, operation, async () => isImport || (await digestOf(app, owner)) !== all);
      if (!isImport) owner = await createOwner();
    });
  });

  function expectNothingOf(operation: Operation, answers: readonly Answer[]): void {
    for (const { text } of answers) expect(text).not.toContain("Secret");
    if (operation.finds) expect(answers[0]?.text).toMatch(/"code":"\w+_NOT_FOUND"/u);
  }

  /** The owner itself is answered otherwise: the calls do ask for what it has. */
  async function expectAny(
    owner: TestStore,
    operation: Operation,
    tells: (answer: Answer) => boolean | Promise<boolean>,
  ) {
    const isTold = async (answer: Answer) => succeeded(answer) && tells(answer);
    const answers = await answersTo(owner, operation, owned, isTold);
    expect(await isTold(answers.at(-1) ?? expect.fail()), answers.map(({ text }) => text).join("\n")).toBe(true);
  }
});

describe("two stores with the same ids", () => {
  test("each read, change and delete their own product, also concurrently", async () => {
    const [one, two] = [await createTestStore(app), await createTestStore(app)];
    for (const [store, title] of [
      [one, "One"],
      [two, "Two"],
    ] as const) {
      await store.post(paths.one, { product: product("shirt", { sku: "S-1", title }) });
    }
    const titles = async () => {
      const reads = [one, two, one, two].map((store) => store.get(paths.of("S-1")));
      return (await Promise.all(reads)).map(({ body }) => body.code ?? body.title);
    };
    expect(await titles()).toEqual(["One", "Two", "One", "Two"]);
    expect((await two.delete(paths.of("S-1"))).status).toBe(200);
    expect(await titles()).toEqual(["One", "PRODUCT_NOT_FOUND", "One", "PRODUCT_NOT_FOUND"]);
  });

  test("each watch their own show", async () => {
    const [one, two] = [await createTestStore(app), await createTestStore(app)];
    const { id: lsId } = await saved(one, { id: "show" });
    await saved(two, { id: lsId });
    const leaving = new AbortController();
    const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { sales { total } } } }";
    const watch = (store: TestStore) => {
      const values = subscribe(app, store, { query, variables: { lsId } }, leaving.signal);
      return async () => (await values.next()).value.data.liveStreamAnalytics.kpis.sales.total as number;
    };
    const [ofOne, ofTwo] = [watch(one), watch(two)];
    expect([await ofOne(), await ofTwo()]).toEqual([0, 0]);
    await recorded(one, lsId, [order("e", 1)]);
    expect(await ofOne()).toBe(1);
    await recorded(two, lsId, [order("e", 500)]);
    expect(await ofTwo()).toBe(500);
    leaving.abort();
  });
});
