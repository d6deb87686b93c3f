import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestStore, openTestApp, startApp, testDatabase, type TestStore } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { order, storedEvents, storeWithShow, view } from "../support/events.js";
import { until } from "../support/until.js";
import { readShow, saved } from "../support/shows.js";

const app = await openTestApp();

const showsPath = "/external/analytics/v1/live-streams";
const showPath = (lsId: string) => `${showsPath}/${encodeURIComponent(lsId)}`;
const eventsPath = (lsId: string) => `${showPath(lsId)}/events`;

async function put(store: TestStore, lsId: string, body: unknown) {
  const headers = { "content-type": "application/json" };
  return readAnswer(await store.fetch(showPath(lsId), { method: "PUT", headers, body: JSON.stringify(body) }));
}

/** Sends a body of one event a line. */
async function stream(store: TestStore, lsId: string, body: RequestInit["body"], headers: Record<string, string> = {}) {
  const sent = { "content-type": "application/x-ndjson", ...headers };
  const options = { method: "POST", headers: sent, body, duplex: "half" } as RequestInit;
  return readAnswer(await store.fetch(eventsPath(lsId), options));
}

const ndjson = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

const ended = { name: "Spring", status: "ENDED", startedAt: "2026-05-04T18:30:00.000Z", durationSeconds: 60 };

describe("PUT of a live stream", () => {
  test("creates it under the id of its path, and changes it, as saveLiveStream does", async () => {
    const store = await createTestStore(app);
    const id = "a show/with ü & 100%";
    const host = { name: "Alex Meyer", email: "alex@shop.example" };
    const answer = { ...ended, id, endedAt: "2026-05-04T18:31:00.000Z", host };
    expect(await put(store, id, { liveStream: { ...ended, host } })).toMatchObject({ status: 200, body: answer });
    expect(await store.graphql(readShow, { lsId: id })).toEqual({ data: { liveStream: answer } });
    const changed = await put(store, id, { liveStream: { ...ended, name: "Summer" } });
    expect(changed.body).toEqual({ ...answer, name: "Summer", host: null });
    expect(await app.db.liveStream.count({ where: { storeId: store.id } })).toBe(1);
  });

  test.each([
    [{}, "liveStream is required.", "REQUIRED", ["liveStream"]],
    [{ liveStream: null }, "liveStream is required.", "REQUIRED", ["liveStream"]],
    [
      { liveStream: { ...ended, id: "other" } },
      `Unknown field "id": the path has it.`,
      "UNKNOWN_FIELD",
      ["liveStream", "id"],
    ],
    [{ liveStream: { ...ended, name: undefined } }, "name is required.", "REQUIRED", ["liveStream", "name"]],
  ])("refuses %j", async (body, message, code, path) => {
    const store = await createTestStore(app);
    const { status, body: problem } = await put(store, "spring", body);
    expect({ status, errors: problem.errors }).toMatchObject({ status: 400, errors: [{ code, path }] });
    expect(problem.errors[0].message).toBe(message);
    expect(await app.db.liveStream.count({ where: { storeId: store.id } })).toBe(0);
  });

  test("reports problems of the id with the path", async () => {
    const store = await createTestStore(app);
    const { status, body } = await put(store, "x".repeat(256), { liveStream: ended });
    expect([status, body.errors[0].message]).toEqual([400, "id must have at most 255 characters."]);
    const response = await store.fetch(`${showsPath}/%ff`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ liveStream: ended }),
    });
    expect([response.status, (await response.json()).detail]).toEqual([400, "lsId is not percent-encoded UTF-8."]);
  });
});

describe("the list of live streams", () => {
  test("is that of GraphQL: pages, states, words, and how many there are", async () => {
    const store = await createTestStore(app);
    const startedAt = (day: number) => `2026-05-0${day}T18:30:00.000Z`;
    for (const day of [1, 2, 3])
      await saved(store, { id: `show-${day}`, name: `Look ${day}`, startedAt: startedAt(day) });
    const { status, body } = await store.get(`${showsPath}?first=2`);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        nodes: [3, 2].map((day) => ({
          id: `show-${day}`,
          name: `Look ${day}`,
          status: "ENDED",
          startedAt: startedAt(day),
          endedAt: `2026-05-0${day}T19:30:00.000Z`,
          durationSeconds: 3_600,
          host: { name: "Robin Host", email: "robin@shop.example" },
        })),
        pageInfo: { hasNextPage: true, endCursor: expect.any(String) },
        totalCount: 3,
        totalCountIsExact: true,
      },
    });
    const ids = async (query: string) =>
      (await store.get(`${showsPath}?${query}`)).body.nodes.map(({ id }: { id: string }) => id);
    expect(await ids(`after=${body.pageInfo.endCursor}`)).toEqual(["show-1"]);
    expect(await ids("status=LIVE")).toEqual([]);
    expect(await ids("search=look+2")).toEqual(["show-2"]);
  });

  test("refuses what GraphQL refuses", async () => {
    const store = await createTestStore(app);
    for (const [query, message] of [
      ["first=101", "first must be from 0 to 100, not 101."],
      ["first=x", `first must be a 32-bit integer, not "x".`],
      ["after=x", "after must be a cursor of this list."],
      ["status=OVER", `status must be one of SCHEDULED, LIVE, ENDED, ARCHIVED, not "OVER".`],
    ]) {
      const { status, body } = await store.get(`${showsPath}?${query}`);
      expect([query, status, body.detail]).toEqual([query, 400, message]);
    }
  });
});

describe("events as JSON", () => {
  test("are recorded as recordShopperEvents does", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = [view("e1"), order("e2", 5)];
    const answer = (accepted: number, duplicates: number) => ({ status: 200, body: { accepted, duplicates } });
    expect(await store.post(eventsPath(lsId), { events })).toMatchObject(answer(2, 0));
    expect(await store.post(eventsPath(lsId), { events })).toMatchObject(answer(0, 2));
    expect(await store.post(eventsPath(lsId), { events: [] })).toMatchObject(answer(0, 0));
    const { status, body } = await store.post(eventsPath(lsId), { events: [view("e3"), view("e4", { seconds: -1 })] });
    expect([status, body.errors[0].path]).toEqual([400, ["events", 1, "seconds"]]);
    expect(await store.post(eventsPath(lsId), { events, lsId })).toMatchObject({
      status: 400,
      body: { errors: [{ code: "UNKNOWN_FIELD", path: ["lsId"] }] },
    });
    expect(await store.post(eventsPath("nowhere"), { events })).toMatchObject({ status: 404 });
    expect(await storedEvents(app, store)).toBe(2);
  });

  test("are at most 10,000", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = Array.from({ length: 10_001 }, (_, index) => view(`${index}`));
    const { status, body } = await store.post(eventsPath(lsId), { events });
    expect([status, body.detail]).toEqual([400, "A batch may have at most 10000 events."]);
  });
});

describe("events, one on each line", () => {
  test("are recorded in batches as they arrive, of any number, plain or compressed", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = Array.from({ length: 12_345 }, (_, index) => view(`e${index}`, { viewerId: `v${index % 7}` }));
    const body = ndjson(events);
    expect(await stream(store, lsId, body)).toMatchObject({ status: 200, body: { accepted: 12_345, duplicates: 0 } });
    const again = `\uFEFF\r\n${body.replaceAll("\n", "\r\n\n")}${JSON.stringify(view("last"))}`;
    expect(await stream(store, lsId, gzipSync(again), { "content-encoding": "gzip" })).toMatchObject({
      status: 200,
      body: { accepted: 1, duplicates: 12_345 },
    });
    expect(await storedEvents(app, store)).toBe(12_346);
  });

  test("of an empty body are no events, but the show must exist", async () => {
    const { store, lsId } = await storeWithShow(app);
    expect(await stream(store, lsId, "\n\n")).toMatchObject({ status: 200, body: { accepted: 0, duplicates: 0 } });
    expect(await stream(store, "nowhere", "")).toMatchObject({ status: 404, body: { code: "LIVE_STREAM_NOT_FOUND" } });
  });

  test.each([
    ["{", "The line is not JSON: see column 2.", "MALFORMED", []],
    [JSON.stringify({ ...view("x"), seconds: -1 }), "seconds must be", "INVALID_VALUE", ["seconds"]],
    [JSON.stringify({ ...view("x"), type: "LOOK" }), "type must be", "INVALID_TYPE", ["type"]],
    [JSON.stringify({ ...view("x"), color: "red" }), "color", "UNKNOWN_FIELD", ["color"]],
    ["[]", "must be", "INVALID_TYPE", []],
    [`"${"x".repeat(1_100_000)}"`, "The line is longer than 1048576 bytes.", "TOO_LONG", []],
  ])("an invalid line is reported, and nothing of its batch is stored: %.40s", async (line, message, code, path) => {
    const { store, lsId } = await storeWithShow(app);
    const { status, body } = await stream(store, lsId, `${JSON.stringify(view("a"))}\n\n${line}\n`);
    expect({ status, errors: body.errors }).toMatchObject({ status: 400, errors: [{ code, path, line: 3 }] });
    expect(body.detail).toContain(message);
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("before an invalid batch are stored, as the response says, and count once when they are sent again", async () => {
    const { store, lsId } = await storeWithShow(app);
    const events = Array.from({ length: 5_000 }, (_, index) => view(`e${index}`));
    const wrong = events.with(4_500, view("e4500", { seconds: -1 }));
    const { status, body } = await stream(store, lsId, ndjson(wrong));
    expect({ status, errors: body.errors }).toMatchObject({
      status: 400,
      errors: [{ path: ["seconds"], line: 4_501 }],
    });
    expect(body.detail).toMatch(
      / The 4000 lines before this batch were recorded; send all of them again once this is corrected\.$/u,
    );
    expect(await storedEvents(app, store)).toBe(4_000);
    expect(await stream(store, lsId, ndjson(events))).toMatchObject({ body: { accepted: 1_000, duplicates: 4_000 } });
  });

  test("of a truncated body are an error, and recorded batches remain", async () => {
    const { store, lsId } = await storeWithShow(app);
    const half = gzipSync(ndjson([view("a"), view("b")])).subarray(0, -10);
    expect(await stream(store, lsId, half, { "content-encoding": "gzip" })).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST" },
    });
  });

  test("are read no faster than they are recorded, so that a body of any length takes constant memory", async () => {
    const database = testDatabase();
    let goOn = (): void => undefined;
    const recording = new Promise<void>((resolve) => (goOn = resolve));
    let batches = 0;
    database.probe.aroundQuery = async (sql, send) => {
      if (sql.includes(`INSERT INTO "ShowEvent"`)) {
        batches += 1;
        await recording;
      }
      return send();
    };
    const slow = await startApp({}, database);
    onTestFinished(() => slow.close());
    const { store, lsId } = await storeWithShow(slow);
    let sent = 0;
    let isLast = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isLast || sent === 1_000) return controller.close();
        controller.enqueue(new TextEncoder().encode(`${JSON.stringify(view(`e${(sent += 1)}`)).padEnd(64 * 1024)}\n`));
      },
    });
    const answer = stream(store, lsId, body);
    await until(() => batches === 1, "the first batch");
    for (let round = 0; round < 50; round += 1) await store.get(showPath(lsId)); // a body that is read would be read meanwhile
    isLast = true;
    goOn();
    expect(sent, "of 64 KB each, most of them on their way").toBeLessThan(400);
    expect(await answer).toMatchObject({ status: 200, body: { accepted: sent, duplicates: 0 } });
  });
});

test("an unsupported method is 405 with the supported ones", async () => {
  const store = await createTestStore(app);
  for (const [path, allow] of [
    [showsPath, "GET, HEAD"],
    [showPath("a"), "GET, HEAD, PUT"],
    [eventsPath("a"), "POST"],
  ] as const) {
    const response = await store.fetch(path, { method: "PATCH" });
    expect([path, response.status, response.headers.get("allow")]).toEqual([path, 405, allow]);
  }
});
