import { type Command, InvalidArgumentError } from "commander";
import type { ImportMode } from "../../catalog/import/modes/mode.js";

export interface ModeCommandOptions {
  readonly mode: ImportMode;
  readonly maxDeletions?: number;
}

const modes: readonly ImportMode[] = ["UPSERT", "PATCH", "REPLACE"];

export function addModeOptions(command: Command): Command {
  return command
    .option(
      "--mode <mode>",
      "upsert, patch: only the columns of the file, or replace: delete what it does not name",
      parseMode,
      "UPSERT",
    )
    .option(
      "--max-deletions <count>",
      "with --mode replace: delete at most so many (default: a tenth or 10, at most half; none by an empty file)",
      parseCount,
    );
}

function parseMode(text: string): ImportMode {
  const mode = modes.find((name) => name === text.toUpperCase());
  if (mode === undefined) throw new InvalidArgumentError(`Allowed choices are ${modes.join(", ").toLowerCase()}.`);
  return mode;
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/u.test(text) || !Number.isSafeInteger(count))
    throw new InvalidArgumentError("Must be a whole number, 0 or more.");
  return count;
}
