// @engine postgresql
import { expect, onTestFinished, test } from "vitest";
import { Prisma } from "../../../src/generated/prisma/client.js";
import { eventSums, minuteSums, viewersOfParts } from "../../../src/figures/intervals/intervals.sql.js";
import { Parts } from "../../../src/figures/intervals/parts.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";

const start = Date.parse("2026-05-04T18:30:00Z") / 1_000;
const show = { storeId: "s", id: "show", number: 1 };

test("an interval of a long show is read by the times of its events, and not the show as a whole", async () => {
  const own = await createMigratedDatabase("intervals");
  onTestFinished(() => own.drop());
  await own.query(`
    INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
      "acceptedAt", position, "orderId", lines)
    SELECT 's', 1, int4send(n), 1 + n % 2, 1, '', '', '', 10, '', to_timestamp(${start} + n), to_timestamp(${start} + n), 1, '', ''
    FROM generate_series(1, 50000) AS n`);
  await own.query(`VACUUM ANALYZE "ShowEvent"`);
  const { client } = own.open();
  const parts = new Parts([{ from: start + 20_001, until: start + 20_301 }]);
  for (const [statement, times] of [
    [minuteSums(show, parts), /Index Cond: .*"occurredAt"/u],
    [eventSums(show, parts, []), /Index Cond: .*"occurredAt"/u],
    [viewersOfParts(show, parts), /Index Cond: .*"occurredAt".*CASE WHEN/u],
  ] as const) {
    const lines = await client.$queryRaw<{ "QUERY PLAN": string }[]>(Prisma.sql`EXPLAIN ${statement}`);
    const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
    expect(plan).toContain('on "ShowEvent_times_idx"');
    expect(plan).toMatch(times);
  }
});
