// @tier all
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { copyLive } from "../../../../src/database/backup/backUp.js";
import { type EmbeddedServer, startEmbedded } from "../../../../src/database/embedded/embeddedEngine.js";
import { embeddedConnection } from "../../../../src/database/open.js";
import { ofTest } from "../../../support/citus/recording.js";
import { stopClock } from "../../../support/clock.js";
import { folderForTest } from "../../../support/folder.js";
import { makeMigratedPlace, type Place, removePlace } from "../../../support/process.js";

let place: Place;
let server: EmbeddedServer;
let writer: pg.Client;
beforeAll(async () => {
  place = await makeMigratedPlace();
  server = await startEmbedded({ folder: join(place.dataDir, "postgres") });
  writer = await clientOf(server);
  await write("CREATE TABLE filler (round int, text text)");
  await write("ALTER TABLE filler ALTER text SET STORAGE EXTERNAL"); // uncompressed
});
afterAll(async () => {
  await writer.end();
  await server.close();
  await removePlace(place);
});

async function clientOf({ socketFolder }: EmbeddedServer): Promise<pg.Client> {
  const client = new pg.Client(embeddedConnection(socketFolder));
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

const write = (sql: string) => writer.query(ofTest(sql));
/** Writes 16 MB, a segment of the log, which a checkpoint then no longer needs. */
async function fillSegment(round: number): Promise<void> {
  await write(`INSERT INTO filler SELECT ${round}, repeat('x', 8000) FROM generate_series(1, 2000)`);
  await write("CHECKPOINT");
}

/** A backup, whose client does something before it sends statements of a kind. */
async function beginBackup(before: RegExp, work: () => Promise<void>) {
  const client = await clientOf(server);
  onTestFinished(() => client.end());
  const observed = Object.create(client, {
    query: {
      value: async (sql: string, values?: unknown[]) => {
        if (before.test(sql)) await work();
        return client.query(sql, values);
      },
    },
  }) as pg.Client;
  const copy = await folderForTest();
  const done = copyLive(observed, join(place.dataDir, "postgres"), copy);
  done.catch(() => undefined); // looked at later
  return { client, copy, done };
}

/** A backup that has copied the files, and is held before it ends, as one that was suspended. */
async function heldBackup() {
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let arrive: () => void = () => undefined;
  const hasCopied = new Promise<void>((resolve) => (arrive = resolve));
  const backup = await beginBackup(/AS "labelFile"/u, () => {
    arrive();
    return held;
  });
  await hasCopied;
  return { ...backup, goOn };
}

/** The rows of each round that a copy has. */
async function roundsIn(copy: string): Promise<{ round: number; rows: number }[]> {
  const restored = await startEmbedded({ folder: copy, isShortLived: true });
  const reader = await clientOf(restored);
  const { rows } = await reader.query(
    ofTest("SELECT round, count(*)::int AS rows FROM filler GROUP BY round ORDER BY round"),
  );
  await reader.end();
  await restored.close();
  return rows;
}

test("a copy has what was written while files were copied and while it was suspended, with the log that checkpoints removed meanwhile", async () => {
  const clock = stopClock();
  const rounds = 8; // more than a checkpoint keeps: 112 MB
  let round = 0;
  let isHeld = false;
  // The log is copied every 250 ms: each time, more is written before.
  const { copy, done } = await beginBackup(/AS current|AS "labelFile"/u, async () => {
    if (round < rounds) await fillSegment((round += 1));
    else if (!isHeld) {
      isHeld = true;
      expect((await write("INSERT INTO filler VALUES (0, 'while it is suspended')")).rowCount).toBe(1);
    }
  });
  const state = { isDone: false };
  void done.finally(() => (state.isDone = true)).catch(() => undefined);
  while (!state.isDone) {
    clock.pass(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
  expect(round).toBe(rounds);
  const filled = Array.from({ length: rounds }, (_, n) => ({ round: n + 1, rows: 2_000 }));
  expect(await roundsIn(copy)).toEqual([{ round: 0, rows: 1 }, ...filled]);
});

test("a backup whose process has ended hinders no other; of two at a time, the later one is written, and the earlier one is told", async () => {
  const killed = await heldBackup();
  await killed.client.end();
  const earlier = await heldBackup();
  const later = await heldBackup();
  earlier.goOn();
  await expect(earlier.done).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "Another backup of this database began and ended this one.",
  });
  later.goOn();
  await later.done;
  expect(await readdir(later.copy)).toEqual(expect.arrayContaining(["PG_VERSION", "backup_label"]));
  killed.goOn();
  await expect(killed.done).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a backup that was suspended until its log was gone fails, and says to run it again", async () => {
  const backup = await heldBackup();
  for (let round = 0; round < 8; round += 1) await fillSegment(-1);
  backup.goOn();
  await expect(backup.done).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(
      /^The database changed faster than it was copied: run the backup again\. \([\dA-F]{24} of its log is gone\.\)$/u,
    ),
  });
});
