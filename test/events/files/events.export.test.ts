import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eraseViewer } from "../../../src/events/erase.js";
import { exportEvents } from "../../../src/events/files/events.export.js";
import { recordEventFile } from "../../../src/events/files/events.file.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { openTestApp } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";

const app = await openTestApp();

async function exported({ storeId, lsId }: ShowKey): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of exportEvents(app.db, storeId, lsId)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function imported(text: string, { storeId, lsId }: ShowKey) {
  const folder = await mkdtemp(join(tmpdir(), "vt-events-"));
  try {
    const file = join(folder, "events.ndjson");
    await writeFile(file, text);
    return await recordEventFile(app.db, storeId, lsId, file, { partitions: 4 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("events that are exported and recorded for another store's show give the same figures, erased viewers included", async () => {
  const [show, copy] = [await newShow(app.db), await newShow(app.db)];
  const uuids = asInputs(someEvents(600)).map((event, index) => ({
    ...event,
    id: index % 2 === 0 ? event.id : `0198f4b2-0000-7000-8000-${String(index).padStart(12, "0")}`,
    ...(index % 5 === 0 && event.amount !== undefined && { orderId: `order ${index} "ü"` }),
  }));
  for (let at = 0; at < uuids.length; at += 300) {
    await recordEvents(app.db, show.storeId, show.lsId, uuids.slice(at, at + 300));
  }
  await eraseViewer(app.db, show.storeId, "viewer-23");
  const text = await exported(show);
  expect(text.match(/viewer-23"/gu)).toBeNull();
  expect(await imported(text, copy)).toEqual({ accepted: uuids.length, duplicates: 0 });
  const figures = await figuresOf(app.db, copy);
  expect(figures).toEqual(await figuresOf(app.db, show));
  expect(figures).toEqual(expectedFigures(someEvents(600)));
  expect(await imported(text, show), "their ids are those that were recorded").toMatchObject({ accepted: 0 });
  const lines = (ndjson: string) => ndjson.trimEnd().split("\n").toSorted();
  expect(lines(await exported(copy))).toEqual(lines(text));
});

test("exports what was sent and counts, in the order of acceptance, across pages", async () => {
  const show = await newShow(app.db);
  const { storeId, lsId } = show;
  expect(await exported(show)).toBe("");
  const occurredAt = new Date("2026-05-04T18:31:00Z");
  const sale = { amount: 0.1, productId: "p", lines: [{ productId: "p", quantity: 2, amount: 0.1 }], orderId: "o" };
  await recordEvents(app.db, storeId, lsId, [
    { id: "z", type: "VIEW", channel: "LIVE", viewerId: "v", device: " Mobile", seconds: 2.5, amount: 7, occurredAt },
    { id: "a", type: "REFUND", channel: "REFERRAL", ...sale, occurredAt },
  ]);
  const time = occurredAt.toISOString();
  expect(
    (await exported(show))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { id: "z", type: "VIEW", channel: "LIVE", viewerId: "v", device: "mobile", seconds: 2.5, occurredAt: time },
    { id: "a", type: "REFUND", channel: "REFERRAL", ...sale, occurredAt: time },
  ]);
  const many = Array.from({ length: 10_000 }, (_, n) => ({
    id: `e${n}`,
    type: "VIEW" as const,
    channel: "LIVE" as const,
    viewerId: "v",
    occurredAt,
  }));
  for (const batch of [many.slice(0, 5_000), many.slice(5_000)]) await recordEvents(app.db, storeId, lsId, batch);
  const ids = (await exported(show)).trimEnd().split("\n").slice(2);
  expect(ids.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(many.map(({ id }) => id));
});

test("refuses a show that does not exist", async () => {
  const { storeId } = await newShow(app.db);
  await expect(exported({ storeId, lsId: "nowhere" })).rejects.toThrow("no live stream");
});
