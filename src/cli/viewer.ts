import type { Command } from "commander";
import { requireStore } from "../access/store.js";
import { eraseViewer } from "../analytics/events/erase.js";
import { liveStreams, withDatabase } from "./runtime.js";
import { parseName } from "./terminal/name.js";
import { type OutputOptions, print } from "./terminal/output.js";

const help = `
The id is replaced by a random one in all events and distinct viewers of the store. Figures stay.

Example:
  npx vitrine viewer erase acme 0b5ad1c0-89ab-4cde-8f01-23456789abcd`;

export function addViewerCommands(program: Command): void {
  const viewer = program.command("viewer").description("viewers of shows").addHelpText("after", help);
  viewer
    .command("erase")
    .description("replace the id of a viewer by a random one everywhere")
    .argument("<store>", "its id", parseName)
    .argument("<viewer>", "the id that events named")
    .option("--json", "print one JSON object")
    .addHelpText("after", help)
    .action(async (store: string, viewerId: string, options: OutputOptions) => {
      const { shows, events, message } = await withDatabase(async (db) => {
        await requireStore(db, store);
        return eraseViewer(db, store, viewerId);
      });
      const found = liveStreams(Array.from({ length: shows }));
      const text = shows === 0 ? message : `${message} ${events} events of ${found} have another viewer id now.`;
      await print({ store, message, shows, events }, text, options);
    });
}
