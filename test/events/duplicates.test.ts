import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { openTestDatabase } from "../support/app.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../support/figures.js";
import type { SentEvent } from "../support/oracle.js";

const { client: db } = openTestDatabase();

const send = ({ storeId, lsId }: ShowKey, events: readonly SentEvent[]) =>
  recordEvents(db, storeId, lsId, asInputs(events));

/** A show with so many batches without duplicates that no more are expected. */
async function showWithoutDuplicates(): Promise<{ show: ShowKey; events: SentEvent[]; rest: SentEvent[] }> {
  const show = await newShow(db);
  const [events, rest] = [someEvents(200).slice(0, 60), someEvents(200).slice(60)];
  for (let first = 0; first < events.length; first += 3) {
    expect(await send(show, events.slice(first, first + 3))).toEqual({ accepted: 3, duplicates: 0 });
  }
  return { show, events, rest };
}

test("counts a duplicate once after a long time without duplicates", async () => {
  const { show, events, rest } = await showWithoutDuplicates();
  const mixed = [...rest.slice(0, 20), ...events.slice(10, 30), ...rest.slice(0, 5)];
  expect(await send(show, mixed)).toEqual({ accepted: 20, duplicates: 25 });
  expect(await send(show, mixed)).toEqual({ accepted: 0, duplicates: 45 });
  expect(await figuresOf(db, show)).toEqual(expectedFigures([...events, ...rest.slice(0, 20)]));
});

test("counts concurrent identical batches once after a long time without duplicates", async () => {
  const { show, events, rest } = await showWithoutDuplicates();
  const alike = rest.map((event): SentEvent => ({ ...event, device: "mobile" })); // whichever of a viewer comes first
  const overlapping = [0, 20, 40, 0, 20, 40].map((first) => alike.slice(first, first + 60));
  const receipts = await Promise.all(overlapping.map((batch) => send(show, batch)));
  expect(receipts.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(100);
  expect(await figuresOf(db, show)).toEqual(expectedFigures([...events, ...alike.slice(0, 100)]));
});
