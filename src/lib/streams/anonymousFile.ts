import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../errors.js";

/**
 * A temporary file without a name: it vanishes when it is closed, or with the process.
 *
 * @throws {AppError} UNAVAILABLE if the folder for temporary files has no room
 */
export function openAnonymousFile(): Promise<FileHandle> {
  return openUnnamed().catch(refuseWithoutRoom);
}

async function openUnnamed(): Promise<FileHandle> {
  const path = join(tmpdir(), `vitrine-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Writes all of the bytes. One system call may write fewer, at a limit or on a nearly full disk.
 *
 * @param position of the first byte
 * @throws {AppError} UNAVAILABLE if the folder for temporary files has no room
 */
export async function writeWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const rest = bytes.length - written;
    const { bytesWritten } = await file.write(bytes, written, rest, position + written).catch(refuseWithoutRoom);
    written += bytesWritten;
  }
}

const withoutRoom = new Set(["ENOSPC", "EDQUOT"]);

function refuseWithoutRoom(error: NodeJS.ErrnoException): never {
  if (!withoutRoom.has(error.code ?? "")) throw error;
  const message = "The folder for temporary files (TMPDIR) has no room for this. Nothing was changed.";
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5, cause: error });
}
