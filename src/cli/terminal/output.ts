import { fstatSync, statSync } from "node:fs";

export interface OutputOptions {
  readonly json?: boolean;
}

/** What a command prints for people. A single text is one line: a line break in it is part of a name, and is escaped. */
export type Lines = string | readonly string[];

/** Prints to standard output: one JSON object, or lines for people. */
export async function print(result: object, lines: Lines, options: OutputOptions): Promise<void> {
  await write(textOf(result, lines, options)).catch(ignoreBrokenPipe);
}

/** Ignores that the reader of standard output stopped reading, as `head -1` does. @throws any other error */
export function ignoreBrokenPipe(error: unknown): void {
  if (!isBrokenPipe(error)) throw error;
}

/**
 * Prints a secret that cannot be shown again.
 *
 * @param undo called if the secret cannot be written
 * @throws if the secret cannot be written
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

/** @throws if standard output is closed or /dev/null, because nobody would see the secret */
export function requireOutput(): void {
  // If it is closed, Node opens /dev/null in its place.
  if (fstatSync(1).rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev) {
    throw new Error("Standard output is closed or /dev/null, and the secret is shown only once: nothing was changed.");
  }
}

/** Ignores errors of standard output and standard error, except that `write` reports them to its caller. */
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

/** Control characters (C0, DEL, C1), and characters that change the direction of text or end a line. */
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Escapes a text as one line for a terminal: tenants choose names, and control characters in them could move the
 * cursor, add lines or write to the clipboard.
 */
export function asLine(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Escapes lines. All texts for people go through here. */
export function asLines(lines: string | readonly string[]): string {
  return [lines]
    .flat()
    .map((line) => `${asLine(line)}\n`)
    .join("");
}

/** Writes to standard error. */
export function printError(lines: string | readonly string[]): void {
  process.stderr.write(asLines(lines));
}

/** The lines of a table with aligned columns; the last one is not padded. */
export function table(heading: readonly string[], texts: readonly (readonly string[])[]): string[] {
  const rows = texts.map((row) => row.map(asLine));
  const widths = heading.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return [line(heading), ...rows.map(line)];
}
