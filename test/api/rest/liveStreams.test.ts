import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTestStore, openTestApp, startApp, testDatabase, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { order, storedEvents, storeWithShow, view } from "../../support/events.js";
import { until } from "../../support/until.js";
import { readShow } from "../../support/shows.js";

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
      `Unknown field "id": it is in the path.`,
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

test("events as JSON are recorded as recordShopperEvents does", async () => {
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

describe("events, one on each line", () => {
  test("are recorded in batches as they arrive, of any number, plain or compressed", async () => {
    const { store, lsId } = await storeWithShow(app);
    const body = ndjson(Array.from({ length: 2_001 }, (_, index) => view(`e${index}`)));
    expect(await stream(store, lsId, body)).toMatchObject({ status: 200, body: { accepted: 2_001, duplicates: 0 } });
    const again = `\uFEFF\r\n${body.replaceAll("\n", "\r\n\n")}${JSON.stringify(view("last"))}`;
    expect(await stream(store, lsId, gzipSync(again), { "content-encoding": "gzip" })).toMatchObject({
      status: 200,
      body: { accepted: 1, duplicates: 2_001 },
    });
    expect(await storedEvents(app, store)).toBe(2_002);
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
    const events = Array.from({ length: 2_200 }, (_, index) => view(`e${index}`));
    const wrong = events.with(2_100, view("e2100", { seconds: -1 }));
    const { status, body } = await stream(store, lsId, ndjson(wrong));
    expect({ status, errors: body.errors }).toMatchObject({
      status: 400,
      errors: [{ path: ["seconds"], line: 2_101 }],
    });
    expect(body.detail).toMatch(
      / The 2000 lines before this batch were recorded\. Correct this, and send all lines again\.$/u,
    );
    expect(await storedEvents(app, store)).toBe(2_000);
    expect(await stream(store, lsId, ndjson(events))).toMatchObject({ body: { accepted: 200, duplicates: 2_000 } });
  });

  test("in an archive are named as that, with what to do", async () => {
    const { store, lsId } = await storeWithShow(app);
    const detail = "The file is compressed with gzip, and not NDJSON: unpack it, or export it as that.";
    expect(await stream(store, lsId, gzipSync(ndjson([view("a")])))).toMatchObject({ status: 400, body: { detail } });
    expect(await storedEvents(app, store)).toBe(0);
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
    onTestFinished(goOn); // before it: hooks run from the last one
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
    answer.catch(() => undefined); // where the test fails before it is awaited
    await until(() => batches === 1, "the first batch");
    // The client sends on until nothing takes more for many turns: a body that is read would be read to its end.
    for (let [before, same] = [0, 0]; same < 500; same = sent === before ? same + 1 : 0) {
      before = sent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    isLast = true;
    goOn();
    expect(sent, "of 64 KB each, most of them on their way").toBeLessThan(400);
    expect(await answer).toMatchObject({ status: 200, body: { accepted: sent, duplicates: 0 } });
  });
});
