import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { issueToken } from "../../../src/stores/token.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { stopTimers } from "../../support/clock.js";
import { asInputs, newShow, someEvents } from "../../support/figures.js";
import { cli, openCommands } from "../../support/process/cli.js";
import { product } from "../../support/products.js";
import { everythingOf } from "../../support/stored.js";
import { until } from "../../support/until.js";

const { env, db, run, json, refusal, newStore } = await openCommands();

const moment = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);

/** A store with some of everything, and how its row of `store show` counts it. */
async function fullStore() {
  const store = await newStore();
  await addSite(db, store, "de", "SHOP");
  await importProducts(db, store, [product("a"), product("b")], { site: { siteId: "de" } });
  const { lsId } = await newShow(db, store);
  await recordEvents(db, store, lsId, asInputs(someEvents(20)));
  await newShow(db, store);
  return { store, lsId, contents: { products: 2, sites: 1, liveStreams: 2, tokens: 0, keys: 0 } };
}

const tablesWithRows = async (store: string) => {
  const rows = await everythingOf({ db }, { id: store });
  return Object.keys(rows).filter((table) => rows[table]?.length !== 0);
};

/** What a deletion answers, once it has waited until no server trusts a token of the store any more. */
async function afterWaiting<Answer>(deletion: () => Promise<Answer>): Promise<Answer> {
  const timers = stopTimers();
  let isDone = false;
  const answer = deletion().finally(() => (isDone = true));
  await until(async () => (await timers.run(500), isDone), "the deletion");
  return answer;
}

test("stores are listed, shown, renamed and set", async () => {
  const { store, contents } = await fullStore();
  const stores: any[] = (await json("store", "list")).stores;
  const ids = stores.map((listed) => String(listed.store));
  expect(ids).toEqual(ids.toSorted());
  expect(stores).toContainEqual({ store, name: "Test store", currency: null, timeZone: "UTC", createdAt: moment });
  expect((await run("store", "list")).stdout).toContain(`${store}  Test store  created `);
  expect(await json("store", "rename", store, "Acme Fashion")).toEqual({ store, name: "Acme Fashion" });
  expect(await json("store", "set", store, "--currency", "eur")).toEqual({ store, currency: "EUR" });
  const timeZone = "Europe/Berlin";
  expect(await json("store", "set", store, "--time-zone", "europe/berlin")).toEqual({ store, timeZone });
  expect(await refusal("store", "set", store)).toEqual([2, expect.stringContaining("Give --currency, --time-zone")]);
  expect(await refusal("store", "set", store, "--time-zone", "Mars")).toEqual([
    1,
    'timeZone must be an IANA time zone, such as Europe/Berlin, not "Mars".',
  ]);
  const shown = { store, name: "Acme Fashion", currency: "EUR", timeZone, createdAt: moment, ...contents };
  expect(await json("store", "show", store)).toEqual(shown);
  expect((await run("store", "show", store)).stdout).toMatch(
    /^store-\S+ {2}Acme Fashion {2}created \S+\n2 products, 1 site, 2 live streams, 0 tokens and 0 public keys\n$/u,
  );
});

test("a store is created with its currency and time zone, or with neither where one is wrong, and only once", async () => {
  const store = `store-${randomUUID()}`;
  const create = ["store", "create", store, "--currency", "eur", "--time-zone"];
  expect((await refusal(...create, "+02:00"))[0]).toBe(1);
  const made = { store, name: store, currency: "EUR", timeZone: "Asia/Kolkata" };
  expect(await json(...create, "Asia/Kolkata")).toEqual(made);
  expect(await refusal("store", "create", store)).toEqual([1, `Store ${store} already exists.`]);
  const reason = "A store id has 1 to 100 letters, digits, dots, dashes and underscores.";
  expect(await refusal("store", "create", "a b")).toEqual([1, reason]);
});

describe("deleting a store", () => {
  test("deletes all of its data, and nothing of other stores", async () => {
    const [{ store, contents }, other] = [await fullStore(), await fullStore()];
    const before = await everythingOf({ db }, { id: other.store });
    expect(await refusal("store", "delete", store)).toEqual([
      2,
      `Delete store ${store} with 2 products, 1 site, 2 live streams, 0 tokens and 0 public keys? ` +
        "Confirm with --yes: nothing was changed. (see --help)",
    ]);
    expect(await afterWaiting(() => json("store", "delete", store, "--yes"))).toEqual({ store, ...contents });
    expect(await tablesWithRows(store)).toEqual([]);
    expect(await everythingOf({ db }, { id: other.store })).toEqual(before);
  });

  test("asks on a terminal: only yes continues, and neither no nor the end of the input changes anything", async () => {
    const store = await newStore();
    const question = `Delete store ${store} with 0 products, 0 sites, 0 live streams, 0 tokens and 0 public keys? [y/N]`;
    const answering = (...input: string[]) =>
      cli(["store", "delete", store], env, { stdin: Object.assign(Readable.from(input), { isTTY: true }) });
    for (const input of [["n\n"], []]) {
      const { status, stderr } = await answering(...input);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/vitrine: Nothing was changed\.\n$/u),
      });
      expect(stderr).toContain(question);
      expect(await tablesWithRows(store)).toEqual(["Store"]);
    }
    expect((await afterWaiting(() => answering("y\n"))).stdout).toContain(`Store ${store} was deleted`);
    expect(await tablesWithRows(store)).toEqual([]);
  });

  test("deletes its tokens first, and goes on once they have stopped working, also after an interruption", async () => {
    const { store } = await fullStore();
    await issueToken(db, store);
    const waitMs = 4_321; // no other timer has it
    const waiting: (() => void)[] = [];
    const start = setTimeout;
    const held = (call: () => void, ms?: number) => (ms === waitMs ? waiting.push(call) : start(call, ms));
    const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(held as typeof setTimeout);
    onTestFinished(() => spy.mockRestore());
    void deleteStore(db, store, waitMs); // and never goes on
    await until(() => waiting.length === 1, "the first call to wait");
    const deleting = deleteStore(db, store, waitMs);
    await until(() => waiting.length === 2, "the second call to wait");
    const left = await tablesWithRows(store);
    expect(left).toEqual(expect.arrayContaining(["Product", "LiveStream"]));
    expect(left).not.toContain("AccessToken");
    waiting[1]?.();
    expect(await deleting).toMatchObject({ products: 2, tokens: 0 });
    expect(await tablesWithRows(store)).toEqual([]);
  });
});

test("sites are added, listed and removed, and their products stay", async () => {
  const { store } = await fullStore();
  const at = { site: "at", type: "MARKET" };
  expect(await json("site", "add", store, "at", "--type", "MARKET")).toEqual({ store, ...at });
  expect(await json("site", "list", store)).toEqual({ store, sites: [at, { site: "de", type: "SHOP" }] });
  expect((await run("site", "list", store)).stdout).toBe("at  MARKET\nde  SHOP\n");
  expect(await refusal("site", "remove", store, "de")).toEqual([
    2,
    expect.stringContaining("to which 2 products are assigned? Confirm with --yes"),
  ]);
  expect(await json("site", "remove", store, "de", "--yes")).toEqual({ store, site: "de", products: 2 });
  expect(await json("site", "list", store)).toEqual({ store, sites: [at] });
  expect(await json("store", "show", store)).toMatchObject({ products: 2, sites: 1 });
  expect(await refusal("site", "remove", store, "de", "--yes")).toEqual([1, `Store ${store} has no site de.`]);
});

test("shows are listed by status and deleted", async () => {
  const { store, lsId } = await fullStore();
  const listed = (await json("show", "list", store, "--status", "LIVE")).liveStreams;
  expect(listed).toHaveLength(2);
  const times = { startedAt: moment, endedAt: null, durationSeconds: expect.any(Number) };
  expect(listed).toContainEqual({ id: lsId, name: "Spring collection", status: "LIVE", ...times });
  const none = `Store ${store} has no live streams that are ENDED.\n`;
  expect((await run("show", "list", store, "--status", "ENDED")).stdout).toBe(none);
  const remove = ["show", "delete", store, lsId];
  expect(await refusal(...remove, "--yes")).toEqual([1, "The show has events. With force, they are deleted too."]);
  expect((await refusal(...remove, "--force"))[0]).toBe(2);
  expect(await json(...remove, "--force", "--yes")).toEqual({ store, liveStream: lsId, events: 20 });
  expect((await json("show", "list", store)).liveStreams).toHaveLength(1);
  expect(await refusal(...remove, "--yes")).toEqual([1, "The store has no live stream with this id."]);
});
