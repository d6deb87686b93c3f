import { fstatSync, statSync } from "node:fs";
import { asLines } from "./lines.js";

export interface OutputOptions {
  readonly json?: boolean;
}

/** What a command prints for people; in a single text, a line break is one of a name. */
export type Lines = string | readonly string[];

/** Prints to standard output: one JSON object, or lines for people. */
export async function print(result: object, lines: Lines, options: OutputOptions): Promise<void> {
  await write(textOf(result, lines, options)).catch(ignoreBrokenPipe);
}

/** Ignores that the reader of standard output has left, as `head -1` does. @throws any other error */
export function ignoreBrokenPipe(error: unknown): void {
  if (!isBrokenPipe(error)) throw error;
}

/**
 * Prints a secret that cannot be shown again.
 *
 * @param undo reverts what was created with it
 * @throws where it cannot be written, after `undo`
 */
export async function printSecret(
  result: object,
  lines: Lines,
  options: OutputOptions,
  undo: () => Promise<unknown>,
): Promise<void> {
  try {
    await write(textOf(result, lines, options));
  } catch (error) {
    await undo();
    throw new Error(`The secret could not be written (${(error as Error).message}); the change was undone.`, {
      cause: error,
    });
  }
}

/** @throws where standard output is closed or /dev/null, so that a secret would not be seen */
export function requireOutput(): void {
  // Where it is closed, Node has opened /dev/null in its place.
  if (fstatSync(1).rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev) {
    throw new Error("Standard output is closed or /dev/null, and the secret is shown only once: nothing was changed.");
  }
}

/** Ignores errors of standard output and standard error that no caller of `write` handles. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

function textOf(result: object, lines: Lines, { json }: OutputOptions): string {
  return json === true ? `${JSON.stringify(result)}\n` : asLines(lines);
}

async function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}
