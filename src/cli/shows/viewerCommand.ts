import type { Command } from "commander";
import { eraseViewer } from "../../events/erase.js";
import { count } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { addCommand, addGroup } from "../terminal/command.js";
import { type OutputOptions, print } from "../terminal/output.js";

const help = `
Replaces the id with a random one in all events and viewer rows of the store. Figures do not change.

Example:
  npx vitrine viewer erase acme 0b5ad1c0-89ab-4cde-8f01-23456789abcd`;

export function addViewerCommands(program: Command): void {
  const viewer = addGroup(program, "viewer", "viewers of shows", help);
  addCommand(viewer, "erase <store>", "replace the id of a viewer with a random one everywhere", help)
    .argument("<viewer>", "the id that events named")
    .action(async (store: string, viewerId: string, options: OutputOptions) => {
      const { shows, events, message } = await withStore(store, (db) => eraseViewer(db, store, viewerId));
      const renamed = `${events} events of ${count(shows, "live stream")} now have another viewer id.`;
      await print({ store, message, shows, events }, shows === 0 ? message : `${message} ${renamed}`, options);
    });
}
