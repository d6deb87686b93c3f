import { expect, test } from "vitest";
import { mapDatabaseError } from "../../src/database/databaseErrors.js";
import { testDatabase } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";

test("a closed database is not reopened by late queries", async () => {
  const database = testDatabase();
  const ask = () => database.client.$queryRawUnsafe(ofTest("SELECT 1"));
  await ask();
  await Promise.all([database.close(), database.close()]);
  await database.close(); // as often as one likes
  for (let times = 0; times < 2; times += 1) {
    const error: unknown = await ask().catch((problem: unknown) => problem);
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE" });
  }
});
