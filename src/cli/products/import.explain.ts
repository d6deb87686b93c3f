import { InvalidArgumentError } from "commander";
import { languageOf } from "../../catalog/import/ways/text.js";
import { fileBytes } from "../../catalog/sources/csv/pieces.js";
import type { RowExplanation } from "../../catalog/sources/formats/explain.js";
import { AppError } from "../../errors.js";
import { clip } from "../../lib/text.js";
import { withStore } from "../runtime.js";
import { type OutputOptions, print } from "../terminal/output.js";
import { table } from "../terminal/table.js";
import { type FileFormatOptions, readFormatOptions } from "./import.format.js";
import { isNdjson, withInput } from "./import.input.js";
import type { ModeCommandOptions } from "./import.mode.js";

export function parseLine(text: string): number {
  if (!/^[1-9]\d{0,8}$/u.test(text)) throw new InvalidArgumentError("Must be the number of a line.");
  return Number(text);
}

/** Shows one row of a file. @throws {AppError} BAD_REQUEST where there is none on this line */
export async function explain(
  { store, file, line }: { readonly store: string; readonly file: string; readonly line: number },
  options: OutputOptions & FileFormatOptions & Pick<ModeCommandOptions, "mode">,
): Promise<void> {
  if (isNdjson(file))
    throw new AppError("BAD_REQUEST", "--explain is for CSV and feeds: NDJSON has the fields themselves.");
  const { explainRow } = await import("../../catalog/sources/formats/explain.js"); // its libraries would make each command start later
  const language = await withStore(store, (db) => languageOf(db, store));
  const fileFormat = { ...(await readFormatOptions(options)), ...language };
  const isPatch = options.mode === "PATCH";
  const found = await withInput(file, (path) => explainRow(() => fileBytes(path), line, { ...fileFormat, isPatch }));
  if (found === undefined) throw new AppError("BAD_REQUEST", `${file} has no row on line ${line}.`);
  await print(found, describe(found), options);
}

function describe({ line, format, cells, product, problems, notes, from }: RowExplanation): string[] {
  const rows = cells.map(({ column, cell, use, field, became }) => [
    clip(column),
    clip(cell),
    use ?? "not used",
    field === undefined ? "" : `${field} = ${clip(JSON.stringify(became ?? null))}`,
  ]);
  return [
    `The row on line ${line}, read as ${format}:`,
    ...table(["column", "cell", "used for", "became"], rows).map((text) => `  ${text}`),
    ...(from.length === 0
      ? []
      : [`It takes what it lacks from ${from.length === 1 ? "line" : "lines"} ${from.join(", ")}.`]),
    ...notes.map((note) => `Note: ${note}`),
    ...problems.map((problem) => `Problem: ${problem}`),
    ...(product === undefined
      ? ["It is not stored as a product."]
      : ["It becomes:", ...JSON.stringify(product, undefined, 2).split("\n")]),
  ];
}
