import type { Command, CommandOptions } from "commander";
import { parseName } from "./name.js";

/** What an argument is, by its name. */
const descriptions: Readonly<Record<string, string>> = {
  store: "its id",
  site: "its id",
  lsid: "id of the live stream",
};

/**
 * Adds a command that prints what it did, with --json as one JSON object.
 *
 * @param usage its name, and its arguments that are ids: `list <store>`
 * @param help what its help ends with: the arguments of an example, or a text that begins with a blank line
 */
export function addCommand(
  parent: Command,
  usage: string,
  description: string,
  help: string,
  options: CommandOptions = {},
): Command {
  const [name = "", ...ids] = usage.split(" ");
  const command = parent.command(name, options).description(description).option("--json", "print one JSON object");
  for (const id of ids) command.argument(id, descriptions[id.slice(1, -1)], parseName);
  return command.addHelpText("after", help.startsWith("\n") ? help : `\nExample:\n  npx vitrine ${help}`);
}

/** Adds a command that has others. */
export function addGroup(program: Command, name: string, description: string, examples: string): Command {
  return program.command(name).description(description).addHelpText("after", examples);
}
