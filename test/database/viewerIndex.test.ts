import { expect, test } from "vitest";
import { createViewerIndex } from "../../src/database/migrations/viewerIndex.js";
import { ofTest } from "../support/citus/recording.js";
import { openTestDatabase } from "../support/app.js";

const database = openTestDatabase();
const read = () =>
  database.client.$queryRawUnsafe<object[]>(
    ofTest(`SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass('"ShowEvent_viewer_idx"')`),
  );

test("the index by viewers is created once, and again where an attempt was interrupted", async () => {
  await database.client.$executeRawUnsafe(ofTest('DROP INDEX IF EXISTS "ShowEvent_viewer_idx"')); // another test may have made it
  await createViewerIndex(database);
  await createViewerIndex(database);
  expect(await read()).toEqual([{ isValid: true }]);
  await database.client.$executeRawUnsafe(
    ofTest(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('"ShowEvent_viewer_idx"')`),
  );
  await createViewerIndex(database);
  expect(await read()).toEqual([{ isValid: true }]);
});
