import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isRetryable, mapDatabaseError, notMigrated, unreachableNodeOf } from "../../src/database/databaseErrors.js";
import { isMigrated, pendingMigrationsBy } from "../../src/database/migrations/applied.js";
import { retrying } from "../../src/database/transaction.js";
import { openTestDatabase } from "../support/app.js";
import { stopTimers } from "../support/clock.js";
import { ofTest } from "../support/citus/recording.js";

const database = openTestDatabase();

/** Runs a statement that the database refuses with an SQL state. */
const raise = (state: string, message = "secret") =>
  database.client.$executeRawUnsafe(
    ofTest(`DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${state}'; END $$`),
  );

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(() => undefined).catch((error: unknown) => error);

const unchanged = "The database cannot be used at the moment. Nothing was changed.";
const inDoubt =
  "The connection to the database was lost. The change may or may not have been stored; it can be sent again.";
const readOnly = "The database is read-only at the moment. Nothing was changed.";
const damaged = "The files of the database are damaged. Nothing was changed.";
const locked = "The data is locked by another request. Nothing was changed.";

describe("an error of the database", () => {
  test.each([
    ["40001, serialization failure", unchanged, true],
    ["40P01, deadlock", unchanged, true],
    ["55P03, lock timeout", locked, false],
    ["57014, statement timeout", unchanged, false],
    ["57P01, server shutting down", inDoubt, false],
    ["57P02, server crashed", inDoubt, false],
    ["57P03, server starting", unchanged, false],
    ["53300, too many connections", unchanged, false],
    ["25P03, idle in a transaction", unchanged, false],
    ["08006, connection lost", inDoubt, false],
    ["25006, read-only", readOnly, false],
    ["28P01, another password", unchanged, false],
    ["28000, no login", unchanged, false],
    ["3D000, no such database", unchanged, false],
    ["42501, privileges missing", unchanged, false],
    ["XX001, a damaged page", damaged, false],
    ["XX002, a damaged index", damaged, false],
    ["58P01, a missing file", damaged, false],
  ])("%s, is UNAVAILABLE", async (name, message, retried) => {
    const error = await errorOf(raise(name.slice(0, 5)));
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", message, retryAfterSeconds: 1 });
    expect(isRetryable(error)).toBe(retried);
  });

  test.each([
    ["recovery is in progress", readOnly],
    ['database "shop" is not currently accepting connections', unchanged],
  ])("55000, %s, is UNAVAILABLE, unlike others of this state", async (text, message) => {
    expect(mapDatabaseError(await errorOf(raise("55000", text)))).toMatchObject({ code: "UNAVAILABLE", message });
    expect(mapDatabaseError(await errorOf(raise("55000")))).not.toMatchObject({ code: "UNAVAILABLE" });
  });

  test.each([
    "failure on connection marked as essential: 10.0.0.1:5432",
    "SSL SYSCALL error: EOF detected",
    "invalid socket",
    "postmaster was shut down, exiting",
    "could not commit transaction for shard 102105 on at least one active node",
  ])("XX000, %s, is a lost node of Citus", async (text) => {
    const error = await errorOf(raise("XX000", text));
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", message: inDoubt });
  });

  test("of a Citus node names the node, also as the cause of another error", async () => {
    const text =
      "connection to the remote node vitrine@db1.internal:5432 failed with the following error: Connection refused";
    const error = await errorOf(raise("08006", text));
    expect(unreachableNodeOf(error)).toBe("db1.internal:5432");
    expect(unreachableNodeOf(mapDatabaseError(error))).toBe("db1.internal:5432");
    expect(unreachableNodeOf(await errorOf(raise("08006")))).toBeUndefined();
  });

  test.each(["22P02", "23505", "42601", "XX000"])("%s, is not an outage and stays as it is", async (state) => {
    const error = await errorOf(raise(state));
    expect(error).toBeInstanceOf(Error);
    expect(mapDatabaseError(error)).toBe(error);
    expect(isRetryable(error)).toBe(false);
  });
});

test.each([
  ["42P01, table", { code: "UNAVAILABLE", message: unchanged, retryAfterSeconds: 1 }],
  ["42703, column", undefined],
])(
  "a missing %s is UNAVAILABLE while migrations are pending; on a migrated database a column is a defect",
  async (name, later) => {
    const error = await errorOf(raise(name.slice(0, 5)));
    onTestFinished(async () => void (await isMigrated(database.client)));
    const emptyDatabase = () => Promise.resolve([]);
    expect((await pendingMigrationsBy(emptyDatabase)).length).toBeGreaterThan(0);
    expect(mapDatabaseError(error)).toMatchObject({ code: "UNAVAILABLE", message: notMigrated, retryAfterSeconds: 30 });
    expect(await isMigrated(database.client)).toBe(true);
    expect(mapDatabaseError(error)).toMatchObject(later ?? { name: (error as Error).name, code: "P2010" });
  },
);

test("work that loses against other transactions is tried four times, after growing pauses", async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(1);
  onTestFinished(() => random.mockRestore());
  const deadlock = await errorOf(raise("40P01"));
  const timers = stopTimers();
  let attempts = 0;
  const work = () => {
    attempts += 1;
    return Promise.reject(deadlock);
  };
  const refused = errorOf(retrying(work));
  for (const [before, pauseMs] of [40, 80, 160].entries()) {
    await timers.run(pauseMs - 1);
    expect(attempts).toBe(before + 1);
    await timers.run(1);
  }
  expect(await refused).toMatchObject({ code: "UNAVAILABLE" });
  expect(attempts).toBe(4);
});
