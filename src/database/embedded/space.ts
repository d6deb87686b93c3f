import { statfs } from "node:fs/promises";

/** A file of the engine's log: where the next one cannot be made, the engine ends. */
const freeBytesMin = 16 * 1024 * 1024;

/** @param folder of the engine's files, or one on the same disk */
export async function isDiskFull(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < freeBytesMin;
}
