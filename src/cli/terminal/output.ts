import { fstatSync, statSync } from "node:fs";

/** What every command that prints a result is given. */
export interface OutputOptions {
  readonly json?: boolean;
}

/** Prints a result: one JSON object on standard output and nothing else there, or lines for people. */
export async function print(result: object, lines: string, options: OutputOptions): Promise<void> {
  await write(textOf(result, lines, options)).catch((error: unknown) => {
    if (!isReaderGone(error)) throw error; // as of `| head -1`: it has read what it wanted
  });
}

/**
 * Prints what cannot be shown again.
 *
 * @param undo takes back what is of no use without it
 * @throws what kept it from being written, once it is taken back
 */
export async function printSecret(
  result: object,
  lines: string,
  options: OutputOptions,
  undo: () => Promise<unknown>,
): Promise<void> {
  try {
    await write(textOf(result, lines, options));
  } catch (error) {
    await undo();
    throw new Error(`The secret could not be written (${(error as Error).message}); what was made was taken back.`, {
      cause: error,
    });
  }
}

/** Refuses to make a secret that nobody would see. @throws where standard output is closed, or leads nowhere */
export function requireOutput(): void {
  // Where it is closed, Node has opened /dev/null in its place.
  if (fstatSync(1).rdev === statSync("/dev/null", { throwIfNoEntry: false })?.rdev) {
    throw new Error("Standard output is closed or /dev/null, and the secret is shown once: nothing was made.");
  }
}

/** Lets the process live on when nobody reads what it prints: `write` tells who wants to know. */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

function textOf(result: object, lines: string, { json }: OutputOptions): string {
  return `${json === true ? JSON.stringify(result) : lines}\n`;
}

async function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

function isReaderGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EPIPE";
}
