import { freeBytes } from "../../lib/disk.js";

/** A file of the engine's log: where the next one cannot be made, the engine ends. */
const freeBytesMin = 16 * 1024 * 1024;

/** @param folder of the engine's files, or one on the same disk */
export async function isDiskFull(folder: string): Promise<boolean> {
  return (await freeBytes(folder)) < freeBytesMin;
}
