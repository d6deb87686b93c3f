import fc from "fast-check";
import { expect, test } from "vitest";
import {
  cellsOf,
  readCells,
  type Delimiter,
  delimiters,
  type CsvRecord,
  RecordSplitter,
} from "../../../src/files/csv/records.js";
import { encodeRows } from "../../../src/files/product/product.columns.js";
import { readCsv } from "../../../src/files/csv/csv.js";
import {
  type FieldKind,
  type FieldName,
  mapFields,
  type ProductInput,
  productFieldNames,
} from "../../../src/files/product/product.fields.js";
import { anyUrl } from "../../support/fuzz/anyUrl.js";
import { collect, rowsOf } from "../../support/catalog/csvReading.js";

const text = (from: number, to: number): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(",", '"', "\n", "\r", "\r\n", " ", "\\", "{", "}", "NULL", "\uFEFF", "\u2028", "é", "😀"),
        fc.string({ unit: "grapheme", maxLength: 3 }),
      ),
      { maxLength: to },
    )
    .map((parts) => parts.join("").replaceAll("\0", ""))
    .filter((value) => value.length >= from && (from === 0 || /\S/u.test(value)));
/** Values of each kind of fields; of a text, at least one character where it is required. */
const valuesOf = (required: boolean): Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> => ({
  text: text(required ? 1 : 0, 20),
  url: anyUrl,
  urls: fc.array(anyUrl, { maxLength: 3 }),
  price: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  flag: fc.boolean(),
});
/** Without characters that nobody sees. */
const key = text(1, 20)
  .map((value) => value.replaceAll(/[\p{Cc}\p{Cf}]/gu, "-"))
  .filter((value) => /\S/u.test(value));
const product = fc.record(
  mapFields(({ kind, required }, name) => {
    if (name === "price_min") return fc.constant(null); // otherwise it may be above price_max
    const value = name === "id" || name === "sku" ? key : valuesOf(required)[kind];
    return required || kind === "urls" ? value : fc.option(value);
  }),
) as fc.Arbitrary<ProductInput>; // by the kinds of its fields

test("any products, however their text is split, are read as they were written", async () => {
  const layout = fc.record({
    products: fc.array(product, { minLength: 1, maxLength: 6 }),
    columns: fc.shuffledSubarray([...productFieldNames], { minLength: productFieldNames.length }),
    lineEnd: fc.constantFrom("\n", "\r\n"),
    quoteAll: fc.boolean(),
    blankLines: fc.nat(2),
    padding: fc.constantFrom("", " ", "\t", " \u00A0"),
    pieces: fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
  });
  await fc.assert(
    fc.asyncProperty(layout, async ({ products, columns, lineEnd, quoteAll, blankLines, padding, pieces }) => {
      let written = columns.join(",") + lineEnd;
      const expected = products.map((item) => {
        written += lineEnd.repeat(blankLines);
        const line = written.split(/\r\n|\r|\n/u).length;
        written += columns.map((name) => padding + cellText(item[name], quoteAll) + padding).join(",") + lineEnd;
        return { product: mapFields((_, name) => (item[name] === "" ? null : item[name])) as ProductInput, line };
      });
      const { chunks, result } = await collect(readCsv(cut(written, pieces)));
      expect(result).toEqual({ rows: products.length, problems: { list: [], total: 0 } });
      expect(rowsOf(chunks)).toEqual(
        rowsOf([{ rows: products.length, bytesRead: 0, columns: encodeRows(expected), invalid: [] }]),
      );
    }),
  );
});

test("every record that the splitter accepts can be read, however its text is split", async () => {
  const noise = fc.array(fc.constantFrom(",", '"', '""', "\n", "\r", " ", "a", "b", "\uFEFF", "\t"), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(noise, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), async (units, pieces) => {
      const records = recordsOf(units.join(""), ",");
      const cellsOfRecord = await readCells(records, ",");
      for (const record of records) expect(cellsOfRecord(record) === undefined).toBe(record.fault !== undefined);
      const splitter = new RecordSplitter();
      const inPieces = [
        ...[...cut(units.join(""), pieces)].flatMap((piece) => splitter.push(piece.text)),
        ...splitter.end(),
      ];
      expect(inPieces).toEqual(records);
    }),
  );
});

test("the cells of any record are those that a reader finds who goes from character to character", async () => {
  const part = fc.constantFrom(
    ",",
    ";",
    "\t",
    '"',
    '""',
    '"a"',
    "\n",
    "\r",
    " ",
    "\u00A0",
    "a",
    "b c",
    "\uFEFF",
    "\uD800",
    "é",
  );
  const cell = fc.oneof(fc.constantFrom("", "a", " a b ", '"a,""b"', '" a "', '"\n"', '""'), part);
  const anyLines = fc.oneof(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.array(cell, { maxLength: 8 }).chain((cells) => fc.constantFrom(...delimiters).map((by) => cells.join(by))),
  );
  const outcomes = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(anyLines, fc.constantFrom(...delimiters), async (lines, delimiter) => {
      for (const { text: record, fault } of recordsOf(lines, delimiter)) {
        if (fault === "unclosedQuote") continue; // its text is not kept
        const cells = await cellsOf(record, delimiter);
        expect(cells).toEqual(cellsByCharacter(record, delimiter));
        outcomes.add(cells === undefined);
      }
    }),
    { examples: [[' \t" a "\t', "\t"]] }, // a delimiter is no white space
  );
  expect(outcomes).toEqual(new Set([true, false]));
});

/** Undefined where text follows a closing quote. */
function cellsByCharacter(record: string, delimiter: Delimiter): readonly string[] | undefined {
  const cells: string[] = [];
  let [cell, at]: [string, "start" | "plain" | "quoted" | "closed"] = ["", "start"];
  for (let index = 0; index < record.length; index += 1) {
    const [character = "", next] = [record[index], record[index + 1]];
    if (at === "quoted") {
      if (character !== '"') cell += character;
      else if (next === '"') [cell, index] = [cell + character, index + 1];
      else at = "closed";
    } else if (character === delimiter) {
      cells.push(at === "closed" ? cell : cell.trim());
      [cell, at] = ["", "start"];
    } else if (character === '"' && at === "start") [cell, at] = ["", "quoted"];
    else if (at !== "closed") {
      cell += character;
      if (character.trim() !== "") at = "plain";
    } else if (character.trim() !== "") return undefined;
  }
  return [...cells, at === "closed" ? cell : cell.trim()];
}

function recordsOf(lines: string, delimiter: Delimiter): readonly CsvRecord[] {
  const splitter = new RecordSplitter(delimiter);
  return [...splitter.push(lines), ...splitter.end()];
}

function cellText(value: ProductInput[FieldName], quoteAll: boolean): string {
  const cell = Array.isArray(value) ? JSON.stringify(value) : String(value ?? "");
  return quoteAll || /[",\r\n]/u.test(cell) || /^\s|\s$/u.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function* cut(whole: string, lengths: Iterable<number>) {
  let start = 0;
  for (const length of lengths) {
    if (start >= whole.length) return;
    yield { text: whole.slice(start, start + length), bytesRead: (start += length) };
  }
}
