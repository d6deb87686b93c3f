import type { Command } from "commander";
import { exportEvents } from "../../analytics/events/files/events.export.js";
import { findLiveStream } from "../../analytics/shows/liveStream.js";
import { count } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { addCommand } from "../terminal/command.js";
import { printError } from "../terminal/lines.js";
import { parseName } from "../terminal/name.js";
import type { OutputOptions } from "../terminal/output.js";
import { printWritten, standardOutput, writingTo } from "../terminal/outputStream.js";

const help = `
The file is what vitrine events STORE LSID FILE takes. Events that were pruned are not in it: a line on standard error says so.
With --json and without a file, the summary goes to standard error.

Examples:
  npx vitrine events export acme spring-show recorded.ndjson
  npx vitrine events export acme spring-show | grep -c '"type":"ORDER"'`;

export function addExportEventsCommand(events: Command): void {
  const description = "write the recorded events of a show to an NDJSON file, in the order in which they were accepted";
  addCommand(events, "export <store> <lsid>", description, help)
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
