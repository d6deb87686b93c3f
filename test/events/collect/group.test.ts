import { describe, expect, test } from "vitest";
import { issueKey } from "../../../src/stores/publicKey.js";
import { createGroupCommit } from "../../../src/events/collect/group.js";
import { onBehalfOf } from "../../../src/database/shares/caller.js";
import { forStore } from "../../../src/database/shares/forStore.js";
import { openTestApp, testDatabase } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { storedEvents, storeWithShow, view as sent } from "../../support/events.js";
import { asInputs, figuresOf } from "../../support/figures.js";
import { saved } from "../../support/shows.js";

const statements: string[] = [];
const app = await openTestApp(
  { analyticsRateLimit: 0, collectRateLimit: 0 },
  testDatabase((sql) => statements.push(sql)),
);

async function shop() {
  const { store, lsId: show } = await storeWithShow(app);
  const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
  return { store, key, show };
}

async function collect({ key, show }: { readonly key: string; readonly show: string }, events: readonly object[]) {
  const body = JSON.stringify({ key, show, channel: "LIVE", viewer: "v", events });
  return readAnswer(await fetch(`${app.url}/collect/v1`, { method: "POST", body }));
}

const view = (id: string, fields: object = {}) => ({ id, type: "VIEW", seconds: 1, ...fields });
const recorded = () => statements.filter((sql) => sql.includes(`INSERT INTO "ShowEvent"`)).length;

test("requests for one show that come together are stored by fewer statements, each answered with its own counts", async () => {
  const made = await shop();
  await collect(made, [view("known")]);
  const before = recorded();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      collect(made, [view(`e${index}`), view("known"), ...(index % 2 === 0 ? [view("shared")] : [])]),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  expect(recorded() - before).toBeLessThan(40);
  // Each has its own event; the known one is a duplicate in all, and the shared one is new in exactly one.
  const extra = answers.map(({ body }, index) => {
    expect(body.accepted + body.duplicates).toBe(index % 2 === 0 ? 3 : 2);
    return body.accepted - 1;
  });
  expect(extra.filter((one) => one === 1)).toHaveLength(1);
  expect(extra.filter((one) => one === 0)).toHaveLength(59);
  expect(await storedEvents(app, made.store)).toBe(62);
});

test("one that is refused fails alone", async () => {
  const made = await shop();
  const longAgo = view("old", { occurredAt: "2001-01-01T00:00:00Z" });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      collect(made, [view(`e${index}`), ...(index % 10 === 3 ? [longAgo] : [])]),
    ),
  );
  for (const [index, { status, body }] of answers.entries()) {
    if (index % 10 === 3) expect([status, body.errors[0].path]).toEqual([400, ["events", 1, "occurredAt"]]);
    else expect([status, body]).toEqual([202, { accepted: 1, duplicates: 0 }]);
  }
  expect(await storedEvents(app, made.store)).toBe(27);
});

test("requests for shows that there are not, and for those of others, do not disturb each other", async () => {
  const [one, other] = [await shop(), await shop()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      collect(index % 2 === 0 ? one : { ...other, show: index % 4 === 1 ? "nowhere" : other.show }, [
        view(`e${index}`),
      ]),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, index) => (index % 4 === 1 ? 404 : 202)));
  expect([await storedEvents(app, one.store), await storedEvents(app, other.store)]).toEqual([10, 5]);
});

describe("requests for several shows of one store", () => {
  /** A store of five shows: three that are live, one that is archived, and one that is not there. */
  async function shopOfShows() {
    const made = await shop();
    for (const [id, status] of [
      ["second", "LIVE"],
      ["third", "LIVE"],
      ["old", "ARCHIVED"],
    ] as const) {
      await saved(made.store, { id, status, startedAt: new Date().toISOString() });
    }
    return { ...made, shows: [made.show, "second", "third", "old", "nowhere"] };
  }

  test("are stored by fewer statements than there are shows and requests, each counted for its own show", async () => {
    const { shows, ...made } = await shopOfShows();
    const live = shows.slice(0, 3);
    await Promise.all(live.map((show) => collect({ ...made, show }, [view("known", { device: "tv" })])));
    const before = recorded();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const show = live[index % 3] ?? "";
        return collect({ ...made, show }, [view(`e${index}`), view("known"), view(`shared by ${index % 2}`)]);
      }),
    );
    expect(recorded() - before).toBeLessThan(20);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    // The known one is a duplicate in all; of the two shared ones, each is new once in each show.
    const accepted = answers.map(({ body }) => body.accepted);
    expect(accepted.filter((count) => count === 2)).toHaveLength(2 * live.length);
    expect(accepted.filter((count) => count === 1)).toHaveLength(60 - 2 * live.length);
    expect(await storedEvents(app, made.store)).toBe(live.length * (1 + 20 + 2));
    for (const lsId of live) {
      const { kpis } = await figuresOf(app.db, { storeId: made.store.id, lsId });
      expect([kpis.viewers.live, kpis.avgViewTime.live]).toEqual([1, 23]);
    }
  });

  test("fail alone where their show takes no events, or there is none", async () => {
    const { shows, ...made } = await shopOfShows();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => collect({ ...made, show: shows[index % 5] ?? "" }, [view(`e${index}`)])),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => [202, 202, 202, 400, 404][index % 5]),
    );
    expect(await storedEvents(app, made.store)).toBe(30);
  });
});

test("the keys of one store have half of all places to wait, so that those of others are not refused", async () => {
  const [{ store, show }, other] = [await shop(), await shop()];
  const record = createGroupCommit();
  const send = (id: string, storeId: string, lsId: string, key: string) => {
    const db = onBehalfOf(forStore(app.db, storeId), { id: key, confirm: () => Promise.resolve() });
    return record(db, storeId, lsId, asInputs([sent(id)]));
  };
  const waiting = Array.from({ length: 2_500 }, (_, n) => send(`e${n}`, store.id, show, `key ${n % 2}`));
  await expect(send("further", store.id, show, "key 2")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await send("e", other.store.id, other.show, "key of another")).toEqual({ accepted: 1, duplicates: 0 });
  await Promise.all(waiting);
  expect(await send("further", store.id, show, "key 2")).toEqual({ accepted: 1, duplicates: 0 });
});
