// @engine both
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { fromNow, stopClock } from "../../support/clock.js";
import {
  endsOf,
  momentsOf,
  momentsPath,
  pin,
  putMoments,
  savedMoments,
  second,
  type SentMoment,
  styles,
} from "../../support/figures/moments.js";
import { saved } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const robin = { name: "Robin", email: "robin@shop.example" };
const marker = (id: string, start: number, fields: Partial<SentMoment> = {}): SentMoment => ({
  id,
  kind: "MARKER",
  startedAt: second(start),
  ...fields,
});

async function storeWithShow(fields: object = {}) {
  const store = await createTestStore(app);
  return { store, lsId: (await saved(store, fields)).id };
}

const stored = ({ id: storeId }: TestStore) => app.db.showMoment.count({ where: { storeId } });

describe.each(Object.entries(styles))("over %s", (_, calls) => {
  test("moments are saved, replaced by their ids, and deleted", async () => {
    const { store, lsId } = await storeWithShow();
    const moments = [
      pin("pin", 0, { endedAt: second(120), title: "The shirt" }),
      { id: "host", kind: "HOST", startedAt: second(0), endedAt: second(600), host: robin },
      { id: "segment", kind: "SEGMENT", startedAt: second(0), endedAt: second(90), title: "Hello" },
      marker("Größe /?", 30, { endedAt: second(31), productId: "shirt", host: robin }),
    ];
    expect(await calls.save(store, lsId, moments)).toEqual({ accepted: 4, created: 4, replaced: 0 });
    const missing = { productId: null, host: null, title: null };
    const [first, host, segment, last] = moments.map((moment) => ({ ...missing, ...moment }));
    expect(await momentsOf(store, lsId)).toEqual([host, first, segment, last]);
    expect(await momentsOf(store, lsId, "HOST")).toEqual([host]);
    const replaced = [marker("host", 10, { endedAt: second(20) }), marker("new", 40, { endedAt: second(50) })];
    expect(await calls.save(store, lsId, replaced)).toEqual({ accepted: 2, created: 1, replaced: 1 });
    expect((await momentsOf(store, lsId)).find(({ id }) => id === "host")).toEqual({ ...missing, ...replaced[0] });
    const message = "Moment Größe /? was deleted.";
    expect(await calls.delete(store, lsId, "Größe /?")).toEqual({ id: "Größe /?", message });
    expect((await momentsOf(store, lsId)).map(({ id }) => id)).toEqual(["pin", "segment", "host", "new"]);
    expect(await calls.save(store, lsId, [])).toEqual({ accepted: 0, created: 0, replaced: 0 });
  });

  const longest = "x".repeat(255);
  const beforeShow = "at most a day before the start of the show, not";
  const afterShow = "at most a day after the end of the show, not";
  test.each<[moment: object, path: readonly string[], code: string, message: string]>([
    [pin("a", 0, { productId: null }), ["productId"], "REQUIRED", "A PIN needs productId."],
    [{ id: "a", kind: "PIN", startedAt: second(0) }, ["productId"], "REQUIRED", "A PIN needs productId."],
    [marker("a", 0, { kind: "HOST" }), ["host"], "REQUIRED", "A HOST needs host."],
    [marker("a", 0, { kind: "HOST", host: null }), ["host"], "REQUIRED", "A HOST needs host."],
    [
      marker("a", 0, { host: { ...robin, email: "robin" } }),
      ["host", "email"],
      "INVALID_VALUE",
      'email must be an e-mail address, not "robin".',
    ],
    [marker("a", 0, { host: { ...robin, name: " " } }), ["host", "name"], "REQUIRED", "name must not be blank."],
    [marker("", 0), ["id"], "REQUIRED", "id must not be blank."],
    [marker(`${longest}x`, 0), ["id"], "TOO_LONG", "id must have at most 255 characters."],
    [marker("a\0", 0), ["id"], "INVALID_VALUE", "id must not contain a NUL character."],
    [marker("a", 0, { title: "\t" }), ["title"], "REQUIRED", "title must not be blank."],
    [marker("a", 0, { title: "x".repeat(1_001) }), ["title"], "TOO_LONG", "title must have at most 1000 characters."],
    [marker("a", 0, { title: "a\ud800" }), ["title"], "INVALID_VALUE", "title must not contain a lone surrogate."],
    [pin("a", 0, { productId: "" }), ["productId"], "REQUIRED", "productId must not be blank."],
    [pin("a", 0, { productId: "\0" }), ["productId"], "INVALID_VALUE", "productId must not contain a NUL character."],
    [
      marker("a", 10, { endedAt: second(9) }),
      ["endedAt"],
      "INVALID_VALUE",
      `endedAt must be at or after startedAt, not ${second(9)}.`,
    ],
    [marker("a", -86_401), ["startedAt"], "INVALID_VALUE", `startedAt must be ${beforeShow} ${second(-86_401)}.`],
    [
      marker("a", 0, { endedAt: second(90_001) }),
      ["endedAt"],
      "INVALID_VALUE",
      `endedAt must be ${afterShow} ${second(90_001)}.`,
    ],
    [
      { ...marker("a", 0), kind: "BREAK" },
      ["kind"],
      "INVALID_TYPE",
      'kind must be one of PIN, HOST, SEGMENT, MARKER, not "BREAK".',
    ],
    [{ ...marker("a", 0), color: "red" }, ["color"], "UNKNOWN_FIELD", 'Unknown field "color".'],
  ])("%j is refused with its place, and nothing of its call is stored", async (moment, path, code, message) => {
    const { store, lsId } = await storeWithShow();
    expect(await calls.save(store, lsId, [marker("before", 0), moment, marker("after", 0)])).toEqual({
      code: "VALIDATION_FAILED",
      errors: [{ code, message, path: ["moments", 1, ...path] }],
    });
    expect(await stored(store)).toBe(0);
  });

  test("an id that comes twice in a call is refused at its second place", async () => {
    const { store, lsId } = await storeWithShow();
    const message = "Another moment of this request has this id.";
    expect(await calls.save(store, lsId, [marker("a", 0), marker("b", 0), marker("a", 5)])).toEqual({
      code: "VALIDATION_FAILED",
      errors: [{ code: "DUPLICATE", message, path: ["moments", 2, "id"] }],
    });
    expect(await stored(store)).toBe(0);
  });

  test("a show has at most 2,000, over any number of calls", async () => {
    const { store, lsId } = await storeWithShow();
    const many = Array.from({ length: 2_001 }, (__, index) => marker(`m${index}`, index));
    const tooMany = {
      code: "VALIDATION_FAILED",
      errors: [{ code: "TOO_LONG", message: "A show has at most 2,000 moments.", path: ["moments"] }],
    };
    expect(await calls.save(store, lsId, many)).toEqual(tooMany);
    expect(await stored(store)).toBe(0);
    expect(await calls.save(store, lsId, many.slice(0, 1_999))).toMatchObject({ created: 1_999 });
    expect(await calls.save(store, lsId, many.slice(1_999))).toEqual(tooMany);
    expect(await stored(store)).toBe(1_999);
    expect(await calls.save(store, lsId, many.slice(1, 2_000))).toMatchObject({ created: 1, replaced: 1_998 });
    expect(await calls.save(store, lsId, [marker("one more", 0)])).toEqual(tooMany);
    expect(await momentsOf(store, lsId)).toHaveLength(2_000);
  });

  test("calls at once for one show do not exceed it together, and each is stored or refused as a whole", async () => {
    const { store, lsId } = await storeWithShow();
    const of = (name: string) => Array.from({ length: 700 }, (__, index) => marker(`${name}${index}`, index));
    const answers = await Promise.all(["a", "b", "c", "d"].map((name) => calls.save(store, lsId, of(name))));
    const created = answers.filter((answer) => answer["created"] === 700);
    expect([created.length, await stored(store)]).toEqual([2, 1_400]);
  });

  test.each(["nowhere", "other", "\0", "x".repeat(300)])("of no show of the store: %j", async (name) => {
    const { store } = await storeWithShow();
    const other = await storeWithShow();
    await savedMoments(other.store, other.lsId, [marker("m", 0)]);
    const lsId = name === "other" ? other.lsId : name;
    const message = "The store has no live stream with this id.";
    const notFound = {
      code: "LIVE_STREAM_NOT_FOUND",
      errors: [{ code: "LIVE_STREAM_NOT_FOUND", message, path: ["lsId"] }],
    };
    expect(await calls.save(store, lsId, [marker("m", 0)])).toEqual(notFound);
    expect(await calls.delete(store, lsId, "m")).toEqual(notFound);
    expect([await stored(store), await stored(other.store)]).toEqual([0, 1]);
  });

  test.each(["nothing", "\0", "x".repeat(300)])("the moment %j is not found", async (id) => {
    const { store, lsId } = await storeWithShow();
    await savedMoments(store, lsId, [marker("m", 0)]);
    const message = "The show has no moment with this id.";
    const errors = [{ code: "MOMENT_NOT_FOUND", message, path: ["id"] }];
    expect(await calls.delete(store, lsId, id)).toEqual({ code: "MOMENT_NOT_FOUND", errors });
    expect(await stored(store)).toBe(1);
  });

  test("an archived show takes moments too", async () => {
    const { store, lsId } = await storeWithShow({ status: "ARCHIVED" });
    expect(await calls.save(store, lsId, [marker("m", 0)])).toMatchObject({ created: 1 });
    expect(await calls.delete(store, lsId, "m")).toMatchObject({ id: "m" });
  });
});

describe("a moment ends", () => {
  test("where it says so, but at the latest where the next one of its kind starts, which a deletion undoes", async () => {
    const { store, lsId } = await storeWithShow();
    await savedMoments(store, lsId, [
      pin("a", 0, { endedAt: second(300) }),
      pin("b", 100, { endedAt: second(200) }),
      pin("c", 150),
      marker("other kind", 50, { endedAt: second(60) }),
    ]);
    expect(await endsOf(store, lsId)).toEqual({
      a: second(100),
      b: second(150),
      c: second(3_600),
      "other kind": second(60),
    });
    await styles.REST.delete(store, lsId, "b");
    expect(await endsOf(store, lsId)).toMatchObject({ a: second(150) });
    await styles.REST.delete(store, lsId, "c");
    expect(await endsOf(store, lsId)).toMatchObject({ a: second(300) });
  });

  test("at once if another one starts in its second: the last by id goes on", async () => {
    const { store, lsId } = await storeWithShow();
    await savedMoments(store, lsId, [pin("b", 10), pin("c", 10), pin("a", 10)]);
    expect(await endsOf(store, lsId)).toEqual({ a: second(10), b: second(10), c: second(3_600) });
  });

  test("with the show if it says nothing, whose fractions of seconds are cut, as its own are", async () => {
    const { store, lsId } = await storeWithShow({ startedAt: "2026-05-04T18:30:00.750Z", durationSeconds: 60 });
    const moment = marker("a", 0, { startedAt: "2026-05-04T18:30:10.999Z", endedAt: "2026-05-04T18:30:10.001Z" });
    await savedMoments(store, lsId, [moment, marker("b", 20), { ...marker("late", 100), kind: "SEGMENT" }]);
    expect(await momentsOf(store, lsId)).toMatchObject([
      { id: "a", startedAt: second(10), endedAt: second(10) },
      { id: "b", startedAt: second(20), endedAt: second(60) },
      { id: "late", startedAt: second(100), endedAt: second(100) },
    ]);
  });

  test("not yet while the show is scheduled or live, unless it says so", async () => {
    const clock = stopClock();
    const start = (Math.ceil(fromNow(0).getTime() / 1_000) + 3_600) * 1_000;
    const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
    const { store, lsId } = await storeWithShow({ status: "SCHEDULED", startedAt: at(0), durationSeconds: null });
    const moments = [
      pin("before", 0, { startedAt: at(-600), endedAt: at(-300) }),
      pin("planned", 0, { startedAt: at(0) }),
      pin("next", 0, { startedAt: at(90) }),
    ];
    await savedMoments(store, lsId, moments);
    const ends = { before: at(-300), planned: at(90), next: null };
    const seconds = async () => {
      const query = `query ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { moments { figures { seconds } } } }`;
      const { data } = await store.graphql(query, { lsId });
      return data.liveStreamAnalytics.moments.map(({ figures }: any) => figures.seconds);
    };
    expect([await endsOf(store, lsId), await seconds()]).toEqual([ends, [0, 0, 0]]);
    clock.pass(start + 100_000 - fromNow(0).getTime());
    await saved(store, { id: lsId, status: "LIVE", startedAt: at(0), durationSeconds: null });
    expect([await endsOf(store, lsId), await seconds()]).toEqual([ends, [300, 90, 10]]);
    await saved(store, { id: lsId, status: "ENDED", startedAt: at(0), durationSeconds: 200 });
    expect(await endsOf(store, lsId)).toEqual({ ...ends, next: at(200) });
    clock.pass(200_000);
    expect(await seconds()).toEqual([300, 90, 110]);
  });

  test("within a day after the start of a show that is scheduled", async () => {
    stopClock();
    const inDays = (days: number, ms = 0) => fromNow(days * 86_400_000 + ms).toISOString();
    const { store, lsId } = await storeWithShow({ status: "SCHEDULED", startedAt: inDays(7), durationSeconds: null });
    await savedMoments(store, lsId, [marker("m", 0, { startedAt: inDays(8) })]);
    const message = `startedAt must be at most a day after the start of the show, not ${inDays(8, 1)}.`;
    expect(await styles.REST.save(store, lsId, [marker("m", 0, { startedAt: inDays(8, 1) })])).toMatchObject({
      errors: [{ message, path: ["moments", 0, "startedAt"] }],
    });
  });

  test("within a day after now while the show is live", async () => {
    stopClock();
    const { store, lsId } = await storeWithShow({ status: "LIVE", durationSeconds: null });
    const after = (ms: number) => fromNow(ms).toISOString();
    const message = `endedAt must be at most a day after now, not ${after(86_400_001)}.`;
    expect(await styles.REST.save(store, lsId, [marker("m", 0, { endedAt: after(86_400_001) })])).toMatchObject({
      errors: [{ message, path: ["moments", 0, "endedAt"] }],
    });
    await savedMoments(store, lsId, [marker("m", 0, { endedAt: after(86_400_000) })]);
  });
});

test("the earliest moment of a show that starts within a second can be saved as it is read", async () => {
  const { store, lsId } = await storeWithShow({ startedAt: "2026-05-04T18:30:00.750Z" });
  await savedMoments(store, lsId, [marker("m", 0, { startedAt: "2026-05-03T18:30:00.750Z" })]);
  const read = await momentsOf(store, lsId);
  await savedMoments(store, lsId, read);
  expect(await momentsOf(store, lsId)).toEqual(read);
});

describe("a condition of PUT", () => {
  test("is that of the moments and their figures, and refuses without storing anything", async () => {
    const { store, lsId } = await storeWithShow();
    const tagOf = async () => (await store.fetch(momentsPath(lsId))).headers.get("etag") ?? "";
    const empty = await tagOf();
    const put = async (headers: object, id: string) => (await putMoments(store, lsId, [marker(id, 0)], headers)).status;
    expect(await put({ "if-match": '"another"' }, "a")).toBe(412);
    expect(await put({ "if-none-match": "*" }, "a")).toBe(412);
    expect(await stored(store)).toBe(0);
    expect(await put({ "if-match": empty }, "a")).toBe(200);
    expect(await put({ "if-match": empty }, "b")).toBe(412);
    expect((await momentsOf(store, lsId)).map(({ id }) => id)).toEqual(["a"]);
    const tag = await tagOf();
    const both = await Promise.all(["b", "c"].map((id) => put({ "if-match": tag }, id)));
    expect(both.toSorted((a, b) => a - b)).toEqual([200, 412]);
  });

  test("fails where there is no show", async () => {
    const { store } = await storeWithShow();
    expect((await putMoments(store, "nowhere", [marker("a", 0)], { "if-match": "*" })).status).toBe(404);
  });
});
