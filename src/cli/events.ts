import type { Command } from "commander";
import { requireStore } from "../access/store.js";
import { type EventFileProgress, recordEventFile } from "../analytics/events/events.file.js";
import type { Config } from "../config.js";
import { addExportEventsCommand } from "./events/export.js";
import { addPruneCommand } from "./events/prune.js";
import { type Progress, startProgress } from "./terminal/progress.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";
import { openRelay, withDatabase } from "./runtime.js";

const help = `
Each line of the file holds one event, as recordShopperEvents takes it; see docs/analytics.md.
All lines are checked before anything is stored. If the command is interrupted, run it again: events that were already
recorded are reported as duplicates and do not count twice.

Example:
  npx vitrine events acme spring-show events.ndjson`;

const examples = `
Examples:
  npx vitrine events acme spring-show events.ndjson
  npx vitrine events export acme spring-show recorded.ndjson
  npx vitrine events prune acme --before 2026-01-01`;

/** `vitrine events …`, by default `record`: `vitrine events STORE LSID FILE`. */
export function addEventsCommands(program: Command): void {
  const events = program
    .command("events")
    .description("shopper events of shows")
    .usage("[record] <store> <lsid> <file>, or export <store> <lsid> [file], or prune <store> [lsid] --before <time>")
    .addHelpText("after", examples);
  addExportEventsCommand(events);
  addPruneCommand(events);

  events
    .command("record", { isDefault: true })
    .description("record shopper events of a show from an NDJSON file of any size")
    .argument("<store>", "its id", parseName)
    .argument("<lsid>", "id of the live stream", parseName)
    .argument("<file>", "a JSON object on each line")
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (store: string, lsId: string, file: string, options: OutputOptions) => {
      const { accepted, duplicates } = await withDatabase(async (db, config, database) => {
        await requireStore(db, store);
        const bars = new PhaseBars();
        const relay = await openRelay(database, config);
        try {
          const onProgress = (progress: EventFileProgress) => {
            bars.update(progress);
            if (progress.phase === "recording") relay?.send(store, lsId);
          };
          return await recordEventFile(db, store, lsId, file, { partitions: partitionsOf(config), onProgress });
        } finally {
          bars.stop();
          relay?.send(store, lsId);
          await relay?.close();
        }
      });
      const result = { store, liveStream: lsId, accepted, duplicates };
      await print(result, `${accepted} events were recorded; ${duplicates} had been recorded before.`, options);
    });
}

/** More than one batch at a time only where there is more than one connection. */
function partitionsOf({ databaseUrl, databasePoolMax }: Config): number {
  return databaseUrl === undefined ? 1 : Math.min(4, databasePoolMax);
}

/** A progress bar for each phase: checking, then recording. */
class PhaseBars {
  #phase: EventFileProgress["phase"] | undefined;
  #bar: Progress | undefined;

  update({ phase, bytesRead, bytesTotal, events }: EventFileProgress): void {
    if (phase !== this.#phase) {
      this.stop();
      this.#bar = startProgress({ label: phase, total: bytesTotal, items: "events" });
      this.#phase = phase;
    }
    this.#bar?.update(bytesRead, events);
  }

  stop(): void {
    this.#bar?.stop();
  }
}
