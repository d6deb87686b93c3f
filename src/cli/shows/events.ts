import type { Command } from "commander";
import { type EventFileProgress, recordEventFile } from "../../analytics/events/files/events.file.js";
import type { Config } from "../../config.js";
import { withRelay, withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { withProgress } from "../terminal/progress.js";
import { addExportEventsCommand } from "./events.export.js";
import { addPruneCommand } from "./events.prune.js";

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
  const events = addGroup(program, "events", "shopper events of shows", examples).usage(
    "[record] <store> <lsid> <file>, or export <store> <lsid> [file], or prune <store> [lsid] --before <time>",
  );
  addExportEventsCommand(events);
  addPruneCommand(events);
  const recording = "record shopper events of a show from an NDJSON file of any size";
  addCommand(events, "record <store> <lsid>", recording, help, { isDefault: true })
    .argument("<file>", "a JSON object on each line")
    .action(async (store: string, lsId: string, file: string, options: OutputOptions) => {
      const { accepted, duplicates } = await withStore(store, (db, config, database) =>
        withRelay(database, config, (changed) =>
          withProgress("events", (show) => {
            const onProgress = ({ phase, bytesTotal, bytesRead, events: read }: EventFileProgress) => {
              show(phase, bytesTotal, bytesRead, read);
              if (phase === "recording") changed(store, lsId);
            };
            const recorded = recordEventFile(db, store, lsId, file, { partitions: partitionsOf(config), onProgress });
            return recorded.finally(() => changed(store, lsId));
          }),
        ),
      );
      const result = { store, liveStream: lsId, accepted, duplicates };
      await print(result, `${accepted} events were recorded; ${duplicates} had been recorded before.`, options);
    });
}

/** More than one batch at a time only where there is more than one connection. */
function partitionsOf({ databaseUrl, databasePoolMax }: Config): number {
  return databaseUrl === undefined ? 1 : Math.min(4, databasePoolMax);
}
