import { randomUUID } from "node:crypto";
import { rmSync, createWriteStream } from "node:fs";
import { open, realpath, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../../errors.js";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { isNdjson } from "../products/import.input.js";
import { type Lines, type OutputOptions, print, ignoreBrokenPipe } from "./output.js";

interface OutputFile {
  /** Write to this path, which is in the target's folder. */
  readonly draft: string;
  /** Moves the draft to its target. */
  finish(): Promise<void>;
  /** Removes the draft if it was not finished. So does a signal. */
  close(): void;
}

/**
 * Begins a file that only this user may read, and that appears only when it is complete. Call this before the work, so
 * that a target that cannot be written is found in time.
 *
 * @param target if it is a link, the linked file is replaced
 * @throws {AppError} BAD_REQUEST if it is a folder or a device, or cannot be written
 */
export async function beginOutputFile(target: string): Promise<OutputFile> {
  const existing = await realpath(target).catch(() => undefined);
  if (existing !== undefined && !(await stat(existing)).isFile()) {
    throw new AppError("BAD_REQUEST", `${target} is not a file that can be replaced.`);
  }
  const path = existing ?? target;
  const draft = `${path}.${randomUUID()}`;
  const remove = () => rmSync(draft, { force: true });
  process.once("exit", remove); // before the file exists, because a signal may come at any time
  try {
    await (await open(draft, "wx", 0o600)).close();
  } catch (error) {
    process.off("exit", remove);
    throw new AppError("BAD_REQUEST", unwritable(target, error as NodeJS.ErrnoException), { cause: error });
  }
  return {
    draft,
    finish: () => rename(draft, path),
    close() {
      remove();
      process.off("exit", remove);
    },
  };
}

function unwritable(target: string, { code }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return `${target} cannot be written: there is no folder ${dirname(target)}.`;
  if (code === "EACCES") return `${target} cannot be written: this user may not write to ${dirname(target)}.`;
  return `${target} cannot be written (${code}).`;
}

export const standardOutput = "-";

const compressed = /\.gz$/iu;

/** The format by the file extension. */
export function fileFormatOf(file: string): "csv" | "ndjson" {
  return isNdjson(file.replace(compressed, "")) ? "ndjson" : "csv";
}

/**
 * Has work write to a file, which appears only when it is complete, or to standard output. Compresses if the file's
 * name ends in `.gz`.
 *
 * @param work passes what it produces to its argument
 */
export async function writingTo<Result>(
  file: string,
  work: (write: (pieces: AsyncIterable<Buffer>) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  if (file === standardOutput) return work((pieces) => pipeline(pieces, process.stdout).catch(ignoreBrokenPipe));
  const output = await beginOutputFile(file);
  try {
    const result = await work((pieces) =>
      compressed.test(file)
        ? pipeline(pieces, createGzip(), createWriteStream(output.draft))
        : pipeline(pieces, createWriteStream(output.draft)),
    );
    await output.finish();
    return result;
  } finally {
    output.close();
  }
}

/** Prints the result of an export. If the export went to standard output, prints to standard error, and only JSON. */
export async function printWritten(file: string, result: object, lines: Lines, options: OutputOptions): Promise<void> {
  if (file !== standardOutput) return print(result, lines, options);
  if (options.json === true) process.stderr.write(`${JSON.stringify(result)}\n`);
}
