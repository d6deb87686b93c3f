import { readdir, stat, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gauge, type Registry } from "prom-client";
import { foldersOf } from "../database/embedded/restored.js";

/**
 * Free space of the folders that Vitrine writes to, and the write-ahead log of the embedded database. What cannot be read has no
 * series.
 *
 * @param dataDir of the embedded database, if that is used
 */
export function collectStorage(registry: Registry, dataDir: string | undefined): void {
  const folders = { ...(dataDir !== undefined && { data: dataDir }), temporary: tmpdir() };
  const free: Gauge<"folder"> = new Gauge({
    name: "vitrine_free_bytes",
    help: "Free space of the folders that Vitrine writes to.",
    labelNames: ["folder"],
    aggregator: "min", // of workers, which see the same
    registers: [registry],
    async collect() {
      for (const [folder, path] of Object.entries(folders)) {
        const bytes = await freeBytes(path);
        if (bytes === undefined) free.remove({ folder });
        else free.set({ folder }, bytes);
      }
    },
  });
  if (dataDir === undefined) return;
  const log = join(foldersOf(dataDir).database, "pg_wal");
  const size: Gauge = new Gauge({
    name: "vitrine_database_log_bytes",
    help: "Size of the write-ahead log of the embedded database.",
    aggregator: "max",
    registers: [registry],
    async collect() {
      const bytes = await sizeOf(log);
      if (bytes === undefined) size.remove();
      else size.set(bytes);
    },
  });
}

/** For users without privileges. */
function freeBytes(path: string): Promise<number | undefined> {
  return statfs(path).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
}

async function sizeOf(folder: string): Promise<number | undefined> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return undefined;
  const ofFile = (name: string) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0, // the engine has removed it
    );
  const sizes = await Promise.all(names.map(ofFile));
  return sizes.reduce((sum, size) => sum + size, 0);
}
