import { mkdirSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { create, extract, list, type ReadEntry } from "tar";

/** The file is not a backup, or it is damaged. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/** @param bytes of all files done or begun */
type OnProgress = (bytes: number, files: number) => void;

/**
 * Writes a compressed tar archive in constant memory, readable only by this user, and syncs it to the disk.
 *
 * @throws the error of node:fs
 */
export async function writeArchive(folder: string, target: string, onProgress: OnProgress): Promise<void> {
  const count = counter(onProgress);
  const onWriteEntry = ({ stat }: { stat?: { size: number } }) => count(stat?.size);
  await create({ cwd: folder, file: target, gzip: { level: 1 }, mode: 0o600, portable: true, onWriteEntry }, ["."]);
  const handle = await open(target, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Reads an archive to its end, in constant memory.
 *
 * @returns the bytes of its files
 * @throws {ArchiveError} for a file that is not an archive, incomplete or damaged, or the error of node:fs
 */
export async function checkArchive(file: string): Promise<number> {
  let bytes = 0;
  let isPlain = true;
  const onReadEntry = ({ type, size }: ReadEntry) => {
    bytes += size;
    isPlain &&= type === "File" || type === "Directory";
  };
  await list({ file, strict: true, onReadEntry }).catch((error: unknown) => {
    throw isDamage(error) ? notWhole(file, error) : error;
  });
  if (!isPlain) throw notWhole(file); // links could lead outside
  return bytes;
}

const extracted = { strict: true, preserveOwner: false } as const;

/** Extracts a checked archive into a new folder. @throws as checkArchive does */
export async function extractArchive(file: string, folder: string, onProgress: OnProgress): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const count = counter(onProgress);
  const onReadEntry = ({ size }: ReadEntry) => count(size);
  await extract({ ...extracted, cwd: folder, file, onReadEntry }).catch((error: unknown) => {
    throw isDamage(error) ? notWhole(file, error) : error;
  });
}

/** Extracts our own small archive into a new folder. It blocks the process, and takes a third of the time. */
export function extractAtOnce(file: string, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  extract({ ...extracted, cwd: folder, file, sync: true });
}

function notWhole(file: string, cause?: unknown): ArchiveError {
  return new ArchiveError(`${file} is not a backup, or it is damaged.`, { cause });
}

function counter(onProgress: OnProgress) {
  let [bytes, files] = [0, 0];
  return (size = 0) => onProgress((bytes += size), (files += 1));
}

/** Whether an error is one of the format or of zlib. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:TAR_|Z_)/u.test(String(error.code));
}
