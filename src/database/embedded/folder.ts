import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isCode } from "./holder.js";

/** A data folder that cannot be made, or not be written to. */
class FolderUnusableError extends Error {
  override readonly name = "FolderUnusableError";
}

/** What makes a folder unusable, as reasons for people. */
const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: "it, or what it is in, is a file",
  EEXIST: "it is a file",
  ENOENT: "nothing can be made there",
  EACCES: "this user may not write there",
  EPERM: "nothing can be written there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};

/** The folder made, with those it is in, or found. Not by mkdir's `recursive`: in /proc it would never end (Node.js 20 to 24). */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (isCode(error, "EEXIST") && (await stat(path)).isDirectory()) return;
    if (!isCode(error, "ENOENT") || dirname(path) === path || (await isThere(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch((again: unknown) => {
      if (!isCode(again, "EEXIST")) throw again; // made by another meanwhile
    });
  }
}

/** Does what makes or fills a data folder. @throws {FolderUnusableError} where the file system refuses it */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const reason = reasons[code];
    if (reason === undefined) throw error;
    throw new FolderUnusableError(`The data folder ${folder} cannot be used: ${reason} (${code}).`, { cause: error });
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
