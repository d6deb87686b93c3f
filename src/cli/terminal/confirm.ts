import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { AppError } from "../../errors.js";
import { asLine } from "./lines.js";

export interface ConfirmOptions {
  readonly yes?: boolean;
}

/**
 * Asks on a terminal whether to go on; elsewhere `--yes` is needed.
 *
 * @param question such as `Delete store acme?`
 * @throws {CommanderError} where nobody can be asked
 * @throws {AppError} BAD_REQUEST for any answer but yes, and for Ctrl-C or Ctrl-D
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
