import { attributeDue } from "../../orders/attribution/pendingAttribution.js";
import type { Command } from "commander";
import { type EventFileProgress, recordEventFile } from "../../events/files/events.file.js";
import type { Config } from "../../config.js";
import { withRelay, withStore, liveStreams, withDatabase } from "../runtime.js";
import { addCommand, addGroup, parseName, parsePast } from "../terminal/command.js";
import { type OutputOptions, print, printError } from "../terminal/output.js";
import { withProgress } from "../terminal/progress.js";
import { exportEvents } from "../../events/files/events.export.js";
import { findLiveStream } from "../../shows/liveStream.js";
import { count } from "../../lib/text.js";
import { printWritten, standardOutput, writingTo } from "../terminal/outputFile.js";
import { pruneEvents } from "../../figures/totals/prune.js";
import { pruneAllStores } from "../../figures/totals/retention.js";
import { AppError } from "../../errors.js";

const help = `
Each line of the file holds one event, as recordShopperEvents takes it; see docs/analytics.md.
All lines are checked before anything is stored. If the command is interrupted, run it again: recorded events are reported as
duplicates and do not count twice.

Example:
  npx vitrine events acme spring-show events.ndjson`;

const examples = `
Examples:
  npx vitrine events acme spring-show events.ndjson
  npx vitrine events export acme spring-show recorded.ndjson
  npx vitrine events prune acme --before 2026-01-01`;

/** The default command is `record`: `vitrine events STORE LSID FILE`. */
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
            const attributed = recorded.then(async (receipt) => {
              for (const id of await attributeDue(db, store)) changed(store, id);
              return receipt;
            });
            return attributed.finally(() => changed(store, lsId));
          }),
        ),
      );
      const result = { store, liveStream: lsId, accepted, duplicates };
      await print(result, `${accepted} events were recorded; ${duplicates} had been recorded before.`, options);
    });
}

/** The embedded database has one connection, so it takes one batch at a time. */
function partitionsOf({ databaseUrl, databasePoolMax }: Config): number {
  return databaseUrl === undefined ? 1 : Math.min(4, databasePoolMax);
}

const exportHelp = `
vitrine events STORE LSID FILE reads this file. If events were pruned, they are missing in it, and a line on standard error says so.
With --json and without a file, the summary goes to standard error.

Examples:
  npx vitrine events export acme spring-show recorded.ndjson
  npx vitrine events export acme spring-show | grep -c '"type":"ORDER"'`;

function addExportEventsCommand(events: Command): void {
  const description = "write the recorded events of a show to an NDJSON file, in the order in which they were accepted";
  addCommand(events, "export <store> <lsid>", description, exportHelp)
    .argument("[file]", "to create or replace, or - for standard output", parseName, standardOutput)
    .action(async (store: string, lsId: string, file: string, options: OutputOptions) => {
      let written = 0;
      const isPruned = await writingTo(file, (write) =>
        withStore(store, async (db) => {
          await write(exportEvents(db, store, lsId, { onProgress: (read) => (written = read) }));
          const { prunedAt, prunedBefore } = await findLiveStream(db, store, lsId);
          return prunedAt !== null || prunedBefore !== null;
        }),
      );
      if (isPruned && options.json !== true) {
        printError("Events of this show were pruned: its figures cannot be computed from this file.");
      }
      const text = `${count(written, "event was", "events were")} written to ${file}.`;
      await printWritten(file, { store, liveStream: lsId, file, events: written, isPruned }, text, options);
    });
}

const pruneHelp = `
All totals stay, but they can no longer be rebuilt from events. If the command is interrupted, run it again.

--all-stores also removes events of ended shows that occurred before the time. Returning viewers are still known, and these shows
accept no further events from before that time. With EVENT_RETENTION_DAYS, a server does this by itself.

Examples:
  npx vitrine events prune acme --before 2026-01-01
  npx vitrine events prune acme spring-show --before 2026-06-30T12:00:00Z
  npx vitrine events prune --all-stores --before 2026-01-01`;

interface PruneOptions extends OutputOptions {
  readonly before: Date;
  readonly allStores?: boolean;
}

function addPruneCommand(events: Command): void {
  const description = "remove the raw events of archived shows that ended before a time; their totals stay";
  addCommand(events, "prune", description, pruneHelp)
    .argument("[store]", "its id", parseName)
    .argument("[lsid]", "id of the live stream (default: all of the store)", parseName)
    .option("--all-stores", "of all stores, and of ended shows too: events that occurred before the time")
    .requiredOption("--before <time>", "only shows that ended before, ISO 8601", parsePast)
    .action(async (store: string | undefined, lsId: string | undefined, options: PruneOptions) => {
      const { before, allStores = false } = options;
      if (allStores && store === undefined) return pruneAll(options);
      if (allStores || store === undefined) throw new AppError("BAD_REQUEST", "Give a store or --all-stores.");
      const result = await withStore(store, (db) =>
        withProgress("rows", (show) =>
          pruneEvents(db, store, {
            before,
            lsId,
            onProgress: ({ showsDone, showsTotal, rowsRemoved }) => show("pruning", showsTotal, showsDone, rowsRemoved),
          }),
        ),
      );
      const { shows, events: removed, viewerRows } = result;
      const text = `${removed} events of ${liveStreams(shows)} were removed, and ${viewerRows} rows about their viewers. Totals stay.`;
      await print({ store, ...result }, text, options);
    });
}

async function pruneAll(options: PruneOptions): Promise<void> {
  const result = await withDatabase(async (db) => {
    const total = await db.store.count();
    return withProgress("rows", (show) =>
      pruneAllStores(db, {
        before: options.before,
        onProgress: ({ stores, rowsRemoved }) => show("pruning", total, stores, rowsRemoved),
      }),
    );
  });
  const { shows, events, viewerRows, stores } = result;
  const of = `${liveStreams(shows)} of ${count(stores, "store")}`;
  const text = `${events} events of ${of} were removed, and ${viewerRows} rows about viewers. Totals stay.`;
  await print(result, text, options);
}
