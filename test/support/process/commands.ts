import type { Command } from "commander";
import { createProgram } from "../../../src/cli/program.js";

/** The commands of the command line that do something, by their whole name: `vitrine store create`. */
export function allCommands(): [string, Command][] {
  return commandsOf(createProgram());
}

function commandsOf(command: Command, above = ""): [string, Command][] {
  const name = `${above}${command.name()}`;
  return command.commands.length === 0
    ? [[name, command]]
    : command.commands.flatMap((child) => commandsOf(child, `${name} `));
}
