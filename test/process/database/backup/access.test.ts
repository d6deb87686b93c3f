// @tier all
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { createIdentify } from "../../../../src/access/identity.js";
import { createFindKey } from "../../../../src/access/key.lookup.js";
import { issueKey, revokeKey } from "../../../../src/access/key.js";
import { deleteStore } from "../../../../src/access/stores/store.delete.js";
import { createStore } from "../../../../src/access/stores/store.js";
import { revokeToken, rotateToken } from "../../../../src/access/token.replace.js";
import { issueToken } from "../../../../src/access/token.js";
import { readConfig } from "../../../../src/config.js";
import type { RootDatabase } from "../../../../src/database/client.js";
import { openDatabase } from "../../../../src/database/open.js";
import { cli, cliJson } from "../../../support/process/cli.js";
import { copyFolder } from "../../../support/run/copyFolder.js";
import { makeMigratedPlace, type Place, placeForTest, removePlace } from "../../../support/process.js";

const origins = { origins: ["https://shop.example"] };
/** Writes to the clipboard of a terminal, and begins a line. */
const hostile = "sync\u001b]52;c;cm0gLXJm\u0007\nvitrine: done";

async function inDatabase<Result>({ env }: Place, work: (db: RootDatabase) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(readConfig(env), "shared", () => undefined);
  try {
    return await work(database.client);
  } finally {
    await database.close();
  }
}

/** Tokens and keys that a backup has, by what became of them since, and what was issued since. */
async function makeAccess(place: Place, backUp: () => Promise<unknown>) {
  const before = await inDatabase(place, async (db) => {
    for (const store of ["acme", "gone"]) await createStore(db, store, store);
    const token = (store: string, label: string, expiresAt?: Date) => issueToken(db, store, { label, expiresAt });
    return {
      kept: await token("acme", "kept"),
      revoked: await token("acme", hostile),
      rotated: await token("acme", "rotated"),
      deleted: await token("gone", "deleted"),
      expired: await token("acme", "expired", new Date(Date.now() - 1_000)),
      revokedBefore: await token("acme", "revoked before"),
      keptKey: await issueKey(db, "acme", { ...origins, label: "kept" }),
      revokedKey: await issueKey(db, "acme", { ...origins, label: "old pages" }),
    };
  });
  await inDatabase(place, (db) => revokeToken(db, "acme", before.revokedBefore.id));
  await backUp();
  return inDatabase(place, async (db) => {
    const { revokedAt } = await revokeToken(db, "acme", before.revoked.id);
    const { issued: successor } = await rotateToken(db, "acme", before.rotated.id, { graceMs: 3_600_000 });
    await deleteStore(db, "gone", 0);
    await revokeKey(db, "acme", before.revokedKey.id);
    return { ...before, revokedAt, successor, newKey: await issueKey(db, "acme", origins) };
  });
}

let made: Place;
let backup: string;
let access: Awaited<ReturnType<typeof makeAccess>>;
beforeAll(async () => {
  made = await makeMigratedPlace();
  backup = join(made.temporary, "vitrine.backup");
  access = await makeAccess(made, () => cliJson(["backup", backup], made.env));
  return () => removePlace(made);
});

/** A place of a test's own with the database in which tokens were revoked since the backup. */
async function currentPlace(): Promise<Place> {
  const place = await placeForTest();
  await copyFolder(join(made.dataDir, "postgres"), join(place.dataDir, "postgres"));
  return place;
}

type Name = "kept" | "revoked" | "rotated" | "deleted" | "expired" | "revokedBefore" | "keptKey" | "revokedKey";

/** The names of the tokens and keys of the backup that work. */
async function working(place: Place): Promise<Name[]> {
  return inDatabase(place, async (db) => {
    const [identify, findKey] = [createIdentify(db), createFindKey(db)];
    const names: Name[] = [];
    const { kept, revoked, rotated, deleted, expired, revokedBefore, keptKey, revokedKey } = access;
    const issued = { kept, revoked, rotated, deleted, expired, revokedBefore, keptKey, revokedKey };
    for (const name of Object.keys(issued) as Name[]) {
      const one = issued[name];
      const use = "token" in one ? identify(one.token) : findKey(one.key);
      await use.then(
        () => names.push(name),
        (error: { code?: string }) => expect(error.code).toBe("UNAUTHENTICATED"),
      );
    }
    return names;
  });
}

test("tokens and keys that were revoked since the backup are listed, on a terminal as one line each, and nothing is changed without --yes", async () => {
  const place = await currentPlace();
  const { status, stdout, stderr } = await cli(["restore", backup], place.env);
  expect([status, stdout]).toEqual([2, ""]);
  const lines = stderr.trimEnd().split("\n");
  const { revoked, rotated, deleted, revokedKey, successor, newKey, revokedAt } = access;
  const title = "vitrine: 3 access tokens and 1 public key were revoked, deleted or shortened since the backup";
  expect(lines[0]).toBe(`${title} and would work again. Revoke them with --revoke-all, or later one by one.`);
  const words = lines.slice(1, 5).map((line) => line.trim().split(/ {2,}/u));
  expect(words).toEqual(
    expect.arrayContaining([
      [
        "token",
        "acme",
        revoked.id,
        String.raw`sync\u001b]52;c;cm0gLXJm\u0007\u000avitrine: done`,
        `revoked ${revokedAt?.toISOString()}`,
      ],
      ["token", "acme", rotated.id, "rotated", expect.stringMatching(/^expires \d{4}-/u)],
      ["token", "gone", deleted.id, "deleted", "missing"],
      ["key", "acme", revokedKey.id, "old pages", expect.stringMatching(/^revoked \d{4}-/u)],
    ]),
  );
  expect(lines[5]).toBe(
    "vitrine: 1 access token and 1 public key were issued since the backup, and will not work any more.",
  );
  expect(lines.slice(6, 8).map((line) => line.trim().split(/ {2,}/u))).toEqual(
    expect.arrayContaining([
      ["token", "acme", successor.id, "rotated"],
      ["key", "acme", newKey.id, "(no label)"],
    ]),
  );
  expect(lines[8]).toContain("Confirm with --yes");
  expect(lines).toHaveLength(9);
  expect(await working(place)).toEqual(["kept", "rotated", "keptKey"]);
});

test("with --yes alone they work again; JSON has the same list", async () => {
  const place = await currentPlace();
  const { revoked, rotated, deleted, revokedKey, successor, newKey } = access;
  const told = await cliJson(["restore", backup, "--yes"], place.env);
  expect(told.access).toMatchObject({ compared: true, revoked: false });
  const ofIds = (list: { id: string; since?: string }[]) =>
    Object.fromEntries(list.map(({ id, since }) => [id, since]));
  expect(ofIds(told.access.reinstated)).toEqual({
    [revoked.id]: "revoked",
    [rotated.id]: "expires",
    [deleted.id]: "missing",
    [revokedKey.id]: "revoked",
  });
  expect(ofIds(told.access.dropped)).toEqual({ [successor.id]: undefined, [newKey.id]: undefined });
  expect(await working(place)).toEqual(["kept", "revoked", "rotated", "deleted", "keptKey", "revokedKey"]);
});

test("with --revoke-all they are revoked, and others keep working", async () => {
  const place = await currentPlace();
  const { status, stdout } = await cli(["restore", backup, "--yes", "--revoke-all"], place.env);
  expect(status).toBe(0);
  expect(stdout).toContain(" 3 access tokens and 1 public key were revoked.\n");
  expect(await working(place)).toEqual(["kept", "keptKey"]);
});

test("without a database to compare with, all that work are listed; --revoke-all revokes them", async () => {
  const place = await placeForTest();
  const { status, stderr } = await cli(["restore", backup], place.env);
  expect(status).toBe(0);
  const [title, ...lines] = stderr.trimEnd().split("\n");
  expect(title).toBe(
    "vitrine: 4 access tokens and 2 public keys are valid in the backup, and may have been revoked since: there is no database to compare it with. Revoke them with --revoke-all, or later one by one.",
  );
  expect(lines).toHaveLength(6);
  expect(await working(place)).toEqual(["kept", "revoked", "rotated", "deleted", "keptKey", "revokedKey"]);
  const other = await placeForTest();
  const told = await cliJson(["restore", backup, "--revoke-all"], other.env);
  expect(told).toMatchObject({ previous: null, access: { compared: false, revoked: true, dropped: [] } });
  expect(told.access.reinstated.map(({ since }: { since: string }) => since)).toEqual(
    Array.from({ length: 6 }, () => "unknown"),
  );
  expect(await working(other)).toEqual([]);
});

test("a database that does not open is said to be so, and counts as none; it is kept", async () => {
  const place = await currentPlace();
  await truncate(join(place.dataDir, "postgres", "global", "pg_control"));
  const unconfirmed = await cli(["restore", backup], place.env);
  expect(unconfirmed.status).toBe(2);
  expect(unconfirmed.stderr).toMatch(
    /^vitrine: The database to be replaced cannot be read\. .+\nvitrine: 4 access tokens and 2 public keys are valid /u,
  );
  const told = await cliJson(["restore", backup, "--yes", "--revoke-all"], place.env);
  expect(told).toMatchObject({
    previous: join(place.dataDir, "before-restore"),
    access: { compared: false, revoked: true },
  });
  expect(await working(place)).toEqual([]);
});
