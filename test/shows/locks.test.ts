import { expect, test } from "vitest";
import { lockShow } from "../../src/database/showLock.js";
import type { Database } from "../../src/database/client.js";
import { openTestDatabase } from "../support/app.js";
import { newShow } from "../support/figures.js";

const { client: db } = openTestDatabase();

test("the exclusive lock of a show has time limits, set so that Citus propagates them to the show's node", async () => {
  const { storeId, lsId } = await newShow(db);
  const names = [
    "citus.propagate_set_commands",
    "lock_timeout",
    "statement_timeout",
    "idle_in_transaction_session_timeout",
  ];
  const settings = (at: Database) => at.$queryRaw`SELECT current_setting(unnest(${names}::text[]), true) AS value`;
  const within = await db.$transaction(async (transaction) => {
    await lockShow(transaction, storeId, lsId);
    return settings(transaction);
  });
  expect(within).toEqual(["local", "1s", "30min", "10s"].map((value) => ({ value })));
  expect(await settings(db), "afterwards all is as it was").not.toContainEqual({ value: "30min" });
});
