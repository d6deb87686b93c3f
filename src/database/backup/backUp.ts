import { rmSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import pg from "pg";
import { AppError } from "../../errors.js";
import { sizeOfFolder } from "../../lib/disk.js";
import { writeArchive } from "../embedded/archive.js";
import { foldersOf, isThere } from "../embedded/restored.js";
import type { OpenDatabase } from "../open.js";
import { copyLive, throwStopped } from "./liveCopy.js";

/** @param bytes done of those in all */
export type OnProgress = (progress: {
  readonly bytes: number;
  readonly bytesTotal: number;
  readonly files: number;
}) => void;

/** Others may keep the engine busy for so long. */
const turnTimeoutMs = 600_000;

/** @throws {AppError} NOT_FOUND where DATA_DIR has no embedded database */
export async function requireEmbedded(dataDir: string): Promise<void> {
  if (await isThere(foldersOf(dataDir).database)) return;
  throw new AppError("NOT_FOUND", `There is no embedded database in ${dataDir}.`);
}

/**
 * Writes a consistent backup of the embedded database, also while a server uses it, which it does not hold up.
 *
 * @param file is overwritten
 * @returns the size of the file
 * @throws {AppError} UNAVAILABLE where the process that holds the database stops meanwhile, or as copyLive does
 */
export async function backUp(
  { connection }: Pick<OpenDatabase, "connection">,
  dataDir: string,
  file: string,
  onProgress: OnProgress,
): Promise<{ bytes: number }> {
  const copy = `${file}.copy`;
  const remove = () => rmSync(copy, { recursive: true, force: true });
  const client = new pg.Client({ ...connection, query_timeout: turnTimeoutMs });
  client.on("error", () => undefined); // the next query rejects
  process.once("exit", remove);
  try {
    await mkdir(copy, { mode: 0o700 });
    await client.connect().catch(throwStopped);
    await copyLive(client, foldersOf(dataDir).database, copy);
    const bytesTotal = await sizeOfFolder(copy);
    await writeArchive(copy, file, (bytes, files) => onProgress({ bytes, bytesTotal, files }));
    return { bytes: (await stat(file)).size };
  } finally {
    await client.end();
    remove();
    process.off("exit", remove);
  }
}
