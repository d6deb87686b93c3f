import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

/** The bytes that users without privileges may still write to the disk of a folder. @throws the error of node:fs */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** The bytes of a folder's files, except those removed while it counts. @throws the error of node:fs */
export async function sizeOfFolder(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const ofFile = (name: string) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const sizes = await Promise.all(names.map(ofFile));
  return sizes.reduce((sum, size) => sum + size, 0);
}
