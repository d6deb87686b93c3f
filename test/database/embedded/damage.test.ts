import { expect, test } from "vitest";
import { failureOf } from "../../../src/database/embedded/engineFailure.js";

test.each([
  ["out of memory (53200)", /^The embedded database stopped: out of memory \(53200\)$/u],
  ["terminating connection due to administrator command (57P01)", /^The embedded database stopped: /u],
  ["Cannot find module", /^The embedded database stopped: Cannot find module$/u],
  [
    'could not open file "global/pg_control": Permission denied (42501)',
    /^The data folder \/data cannot be used: this user may not write there; .+ \(EACCES\)\.$/u,
  ],
  ['could not open file "pg_wal": Read-only file system (58030)', /the file system is read-only; .+ \(EROFS\)\.$/u],
])("what is not of the files is not called damage: %s", (message, expected) => {
  const error = failureOf("/data", new Error(message));
  expect([error.name, error.message]).not.toContain("DamagedDatabaseError");
  expect(error.message).toMatch(expected);
});

test.each([
  ['required WAL directory "pg_wal" does not exist (XX000)', 'required WAL directory "pg_wal" does not exist'],
  [
    'could not read file "/pglite/data/global/pg_control": read 0 of 8192 (XX001)',
    'could not read file "global/pg_control": read 0 of 8192',
  ],
])("damage is told in PostgreSQL's words, with paths in the folder: %s", (message, words) => {
  expect(failureOf("/data", new Error(message))).toMatchObject({ name: "DamagedDatabaseError", words });
});
