import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Opens an empty temporary file for reading and writing. It has no name, so it is gone once it is closed, or with the process. */
export async function openNamelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `vitrine-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}
