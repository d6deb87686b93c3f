import { type Command, type CommandOptions, InvalidArgumentError } from "commander";
import { nameCharactersMax, textFault } from "../../lib/text.js";
import * as z from "zod";
import { dateTimeName, parseDateTime } from "../../lib/dateTime.js";
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { AppError } from "../../errors.js";
import { asLine } from "./output.js";

/** The description of an argument, by its name. */
const descriptions: Readonly<Record<string, string>> = {
  store: "its id",
  site: "its id",
  lsid: "id of the live stream",
};

/**
 * Adds a command with the option `--json`.
 *
 * @param usage its name and its arguments that are ids: `list <store>`
 * @param help the end of its help: the arguments of an example, or a text that begins with a blank line
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

/** Adds a command that has subcommands. */
export function addGroup(program: Command, name: string, description: string, examples: string): Command {
  return program.command(name).description(description).addHelpText("after", examples);
}

/** Parses an id, a name, a type or a label. */
export function parseName(text: string): string {
  const fault = textFault(text, "It", nameCharactersMax);
  if (fault !== undefined) throw new InvalidArgumentError(fault.message);
  return text;
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `15m`, `24h` or `7d` in milliseconds; `0` is 0. */
export function parseDuration(text: string): number {
  const [, amount, unit = ""] = /^(\d{1,6})([smhd])$/u.exec(text) ?? [];
  const unitMs = unitsMs[unit];
  if (text === "0") return 0;
  if (amount === undefined || unitMs === undefined)
    throw new InvalidArgumentError("Give a duration like 90s, 15m, 24h or 7d.");
  return Number(amount) * unitMs;
}

/** Times without a time zone: JavaScript reads a date as UTC, and a date with a time as local time. */
const withoutZone = z.union([z.iso.date(), z.iso.datetime({ local: true })]);

/** @throws {InvalidArgumentError} if the text is not an ISO 8601 time in the future */
export function parseFuture(text: string): Date {
  const moment = parseMoment(text);
  if (moment.getTime() <= Date.now()) throw new InvalidArgumentError("The time is in the past.");
  return moment;
}

/** @throws {InvalidArgumentError} if the text is not an ISO 8601 time, or is in the future */
export function parsePast(text: string): Date {
  const moment = parseMoment(text);
  if (moment.getTime() > Date.now()) throw new InvalidArgumentError("The time is in the future.");
  return moment;
}

function parseMoment(text: string): Date {
  const moment = withoutZone.safeParse(text).success ? new Date(text) : parseDateTime(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("Give an ISO 8601 time like 2030-01-31T00:00:00Z.");
}

/** Like the API, needs a time zone. @throws {InvalidArgumentError} if the text is not such an ISO 8601 timestamp */
export function parseTime(text: string): Date {
  const time = parseDateTime(text);
  if (time === undefined) throw new InvalidArgumentError(`Must be ${dateTimeName}.`);
  return time;
}

export interface ConfirmOptions {
  readonly yes?: boolean;
}

/**
 * Asks on the terminal whether to go on. Without a terminal, `--yes` is required.
 *
 * @param question such as `Delete store acme?`
 * @throws {CommanderError} if there is no terminal
 * @throws {AppError} BAD_REQUEST for an answer other than yes, and for Ctrl-C or Ctrl-D
 */
export async function confirm(command: Command, question: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY) return command.error(`${question} Confirm with --yes: nothing was changed.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  try {
    const asked = terminal.question(`${asLine(question)} [y/N] `).catch(() => ""); // Ctrl-C or Ctrl-D
    const answer = await Promise.race([asked, closed]);
    if (!/^y(?:es)?$/iu.test(answer.trim())) throw new AppError("BAD_REQUEST", "Nothing was changed.");
  } finally {
    terminal.close();
  }
}
