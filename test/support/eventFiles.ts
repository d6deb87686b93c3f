import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { recordEventFile } from "../../src/analytics/events/events.file.js";
import { saveLiveStream } from "../../src/analytics/shows/liveStream.save.js";
import type { OpenDatabase } from "../../src/database/open.js";
import { testDatabase } from "./app.js";
import type { ShowKey } from "./figures.js";
import type { SentEvent } from "./oracle.js";

type Options = Parameters<typeof recordEventFile>[4];

const view = { id: "e", type: "VIEW", channel: "LIVE", viewerId: "ann", occurredAt: "2026-05-04T18:30:00Z" };

/** A line of a file of events. */
export const line = (fields: object = {}) => JSON.stringify({ ...view, ...fields });
export const lines = (events: readonly SentEvent[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** A database, and a folder for files of events, for the tests of one file. */
export function useEventFiles() {
  let database: OpenDatabase;
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    database = testDatabase();
    folder = await mkdtemp(join(tmpdir(), "vt-events-"));
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });
  const fileOf = async (content: string | Buffer): Promise<string> => {
    files += 1;
    const path = join(folder, `${files}.ndjson`);
    await writeFile(path, content);
    return path;
  };
  return {
    get db() {
      return database.client;
    },
    get folder() {
      return folder;
    },
    recordText: async ({ storeId, lsId }: ShowKey, content: string | Buffer, options: Options = {}) =>
      recordEventFile(database.client, storeId, lsId, await fileOf(content), options),
    archive({ storeId, lsId }: ShowKey) {
      const startedAt = new Date("2026-05-04T18:30:00Z");
      const show = { id: lsId, name: "Over", status: "ARCHIVED", startedAt, durationSeconds: 60 } as const;
      return saveLiveStream(database.client, storeId, show);
    },
  };
}
