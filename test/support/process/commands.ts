import type { Command } from "commander";
import { createProgram } from "../../../src/cli/program.js";

/** The commands of the command line that do something, by their whole name: `store create`. */
export function allCommands(): [string, Command][] {
  return commandsOf(createProgram()).map(([name, command]) => [name.replace("vitrine ", ""), command]);
}

function commandsOf(command: Command, above = ""): [string, Command][] {
  const name = `${above}${command.name()}`;
  return command.commands.length === 0
    ? [[name, command]]
    : command.commands.flatMap((child) => commandsOf(child, `${name} `));
}

/** Values of options that a command needs and that are no choice. */
const optionValues: Readonly<Record<string, string>> = {
  "--before": "2026-01-01T00:00:00Z",
  "--currency": "USD",
  "--origin": "https://shop.example",
  "--type": "WEB",
};

/** Commands that need an option which the command line does not ask for. */
const needed: Readonly<Record<string, readonly string[]>> = {
  "store set": ["--currency"],
  "show delete": ["--force"],
};

/**
 * A call of a command, with the options that it needs. Where it would ask, it need not.
 *
 * @param argument the value of an argument by its name; undefined leaves it out
 */
export function callOf(name: string, command: Command, argument: (name: string) => string | undefined): string[] {
  const options = command.options.flatMap((option) => {
    const { long, mandatory, argChoices } = option;
    const isNeeded = mandatory || long === "--yes" || needed[name]?.includes(long ?? "") === true;
    if (!isNeeded || long === undefined || long === null) return [];
    if (!option.required) return [long];
    const value = argChoices?.[0] ?? optionValues[long];
    if (value === undefined) throw new Error(`What is a value of ${long}, which ${name} needs?`);
    return [long, value];
  });
  const given = command.registeredArguments.flatMap((each) => argument(each.name()) ?? []);
  return [...name.split(" "), ...given, ...options];
}
