import { parse, writeToString } from "fast-csv";

/** Unlike UTF-8, it keeps lone surrogates, which JSON may have. */
const encoding = "utf16le";

/** The cells of each record of a text; undefined if one cannot be read. */
export function parseCsv(text: string, delimiter: string): Promise<readonly (readonly string[])[] | undefined> {
  return new Promise((resolve) => {
    const rows: string[][] = [];
    parse({ delimiter, encoding })
      .on("data", (row: string[]) => rows.push(row))
      .once("error", () => resolve(undefined))
      .once("end", () => resolve(rows))
      .end(Buffer.from(text, encoding));
  });
}

interface CsvFormat {
  readonly delimiter: string;
  /** For each column, whether its cells are always quoted, and not only where necessary. */
  readonly quoted: readonly boolean[];
}

/** Each row as a line. */
export async function formatCsv(
  rows: readonly (readonly string[])[],
  { delimiter, quoted }: CsvFormat,
): Promise<string> {
  if (rows.length === 0) return ""; // fast-csv would write an empty line
  const given = rows.map((row) => [...row]); // fast-csv's types take no read-only arrays
  return writeToString(given, { delimiter, quoteColumns: [...quoted], includeEndRowDelimiter: true });
}
