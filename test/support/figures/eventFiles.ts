import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { recordEventFile } from "../../../src/events/files/events.file.js";
import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { openTestDatabase } from "../app.js";
import type { ShowKey } from "../figures.js";
import { openFolder } from "../folder.js";
import type { SentEvent } from "../oracle.js";

type Options = Parameters<typeof recordEventFile>[4];

const view = { id: "e", type: "VIEW", channel: "LIVE", viewerId: "ann", occurredAt: "2026-05-04T18:30:00Z" };

/** A line of a file of events. */
export const line = (fields: object = {}) => JSON.stringify({ ...view, ...fields });
export const lines = (events: readonly SentEvent[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** A database, and a folder for files of events, for the tests of one file. */
export async function openEventFiles() {
  const { client: db } = openTestDatabase();
  const folder = await openFolder();
  let files = 0;
  const fileOf = async (content: string | Buffer): Promise<string> => {
    files += 1;
    const path = join(folder, `${files}.ndjson`);
    await writeFile(path, content);
    return path;
  };
  return {
    db,
    folder,
    recordText: async ({ storeId, lsId }: ShowKey, content: string | Buffer, options: Options = {}) =>
      recordEventFile(db, storeId, lsId, await fileOf(content), options),
    archive({ storeId, lsId }: ShowKey) {
      const startedAt = new Date("2026-05-04T18:30:00Z");
      const show = { id: lsId, name: "Over", status: "ARCHIVED", startedAt, durationSeconds: 60 } as const;
      return saveLiveStream(db, storeId, show);
    },
  };
}
