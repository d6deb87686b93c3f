import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { isNdjson } from "../products/import.input.js";
import { type Lines, type OutputOptions, print, ignoreBrokenPipe } from "./output.js";
import { beginOutputFile } from "./outputFile.js";

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
