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
  /** The path at which it is written, in the folder of its target. */
  readonly draft: string;
  /** Lets it appear, or replace an older one. */
  finish(): Promise<void>;
  /** Removes it if it was not finished. A signal does too. */
  close(): void;
}

/**
 * Begins a file that this user alone may read, and that appears only when it is complete. Called before the work, so
 * that one that cannot be written is noticed in time.
 *
 * @param target is resolved if it is a link
 * @throws {AppError} BAD_REQUEST where it is a folder or a device, or cannot be written
 */
export async function beginOutputFile(target: string): Promise<OutputFile> {
  const existing = await realpath(target).catch(() => undefined);
  if (existing !== undefined && !(await stat(existing)).isFile()) {
    throw new AppError("BAD_REQUEST", `${target} is not a file that can be replaced.`);
  }
  const path = existing ?? target;
  const draft = `${path}.${randomUUID()}`;
  const remove = () => rmSync(draft, { force: true });
  process.once("exit", remove); // before the file is there: a signal may come at any time
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

/** The form that the name of a file asks for. */
export function fileFormatOf(file: string): "csv" | "ndjson" {
  return isNdjson(file.replace(compressed, "")) ? "ndjson" : "csv";
}

/**
 * Writes what is made to a file, which appears when it is complete, or to standard output. `.gz` at the end of its name
 * compresses.
 *
 * @param work makes it, and hands it to its argument
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

/** Prints what was written: beside the file, or, where it went to standard output, to standard error, but only as JSON. */
export async function printWritten(file: string, result: object, lines: Lines, options: OutputOptions): Promise<void> {
  if (file !== standardOutput) return print(result, lines, options);
  if (options.json === true) process.stderr.write(`${JSON.stringify(result)}\n`);
}
