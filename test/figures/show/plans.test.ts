// @engine postgresql
import { expect, test } from "vitest";
import { readAnalytics } from "../../../src/figures/show/kpis.read.js";
import { openClient } from "../../../src/database/open.js";
import { ofTest } from "../../support/citus/recording.js";
import { newShow } from "../../support/figures.js";
import { givenDatabase } from "../../support/database/database.js";

const { connection } = givenDatabase();

test("reads of shows share one plan, since parsing and planning take longer than reading a show", async () => {
  const options = { namedStatements: true, keepsLimits: true, log: () => undefined };
  const { client, close } = openClient({ ...connection, max: 1 }, options);
  try {
    const [one, other] = [await newShow(client), await newShow(client)];
    for (const { storeId, lsId } of [one, other, one, other, one, other, one]) {
      await readAnalytics(client, storeId, lsId);
    }
    const prepared = await client.$queryRawUnsafe(
      ofTest(`SELECT name, generic_plans::int AS kept, custom_plans::int AS planned FROM pg_prepared_statements
        WHERE name LIKE 'analytics%'`),
    );
    expect(prepared).toEqual([{ name: "analytics_read", planned: 5, kept: 2 }]);
  } finally {
    await close();
  }
});
