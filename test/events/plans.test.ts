// @engine postgresql
import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { openClient } from "../../src/database/open.js";
import { ofTest } from "../support/citus/recording.js";
import { asInputs, newShow, someEvents } from "../support/figures.js";
import { givenDatabase } from "../support/database/database.js";

const { connection } = givenDatabase();

interface Prepared {
  readonly name: string;
  readonly kept: number;
  readonly planned: number;
}

/** The statements that a connection has prepared after batches of a size. */
async function preparedAfter(count: number, batches: number): Promise<Prepared[]> {
  const options = { namedStatements: true, keepsLimits: true, log: () => undefined };
  const { client, close } = openClient({ ...connection, max: 1 }, options);
  try {
    const { storeId, lsId } = await newShow(client);
    const occurredAt = new Date(); // late ones are noted for the orders of their viewers, by another statement
    const events = asInputs(someEvents(count * batches)).map((event) =>
      Object.assign(event, { occurredAt }, event.type === "VIEW" && { seconds: 1 }),
    );
    for (let first = 0; first < events.length; first += count) {
      await recordEvents(client, storeId, lsId, events.slice(first, first + count));
    }
    return await client.$queryRawUnsafe<Prepared[]>(
      ofTest(`SELECT name, generic_plans::int AS kept, custom_plans::int AS planned FROM pg_prepared_statements
        WHERE name LIKE 'record_events_%'`),
    );
  } finally {
    await close();
  }
}

test.each([
  [1, "record_events_expected_small"],
  [50, "record_events_expected_small"],
  [100, "record_events_expected_medium"],
  [400, "record_events_expected_medium"],
  [1_000, "record_events_expected_large"],
])(
  "shares one plan among batches of %i events, since planning takes longer than recording a hundred events",
  async (count, name) => {
    const prepared = await preparedAfter(count, 7);
    expect(prepared).toEqual([{ name, planned: 5, kept: 2 }]);
  },
);
