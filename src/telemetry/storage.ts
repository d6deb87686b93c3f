import { tmpdir } from "node:os";
import { join } from "node:path";
import { Gauge, type Registry } from "prom-client";
import { foldersOf } from "../database/embedded/restored.js";
import { freeBytes, sizeOfFolder } from "../lib/disk.js";

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
        const bytes = await freeBytes(path).catch(() => undefined);
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
      const bytes = await sizeOfFolder(log).catch(() => undefined);
      if (bytes === undefined) size.remove();
      else size.set(bytes);
    },
  });
}
