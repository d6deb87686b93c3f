import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf, delimiters, parsedCells } from "../../../src/catalog/csv/cells.js";
import { plainCells } from "../../../src/catalog/csv/plainCells.js";
import { encodeRows } from "../../../src/catalog/product.columns.js";
import { readCsv } from "../../../src/catalog/reading/csv.js";
import { RecordSplitter } from "../../../src/catalog/csv/records.js";
import { type ProductInput, productFieldNames } from "../../../src/catalog/product.input.js";
import { anyUrl } from "../../support/anyUrl.js";
import { collect, rowsOf } from "../../support/csvReading.js";

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
const price = fc.option(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }));
const product = fc.record({
  id: text(1, 10),
  sku: text(1, 10),
  title: text(1, 20),
  description: fc.option(text(0, 20)),
  price,
  price_min: fc.constant(null),
  price_max: price,
  available: fc.boolean(),
  images: fc.array(anyUrl, { maxLength: 3 }),
  featured_image: anyUrl,
  url: anyUrl,
});

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
        return { product: { ...item, description: item.description || null }, line };
      });
      const { chunks, result } = await collect(readCsv(cut(written, pieces)));
      expect(result).toEqual({ rows: products.length, problems: { list: [], total: 0 } });
      expect(rowsOf(chunks)).toEqual(
        rowsOf([{ rows: products.length, bytesRead: 0, faults: 0, columns: encodeRows(expected) }]),
      );
    }),
    { numRuns: 500 },
  );
});

test("every record that the splitter accepts is one record to fast-csv, with the same cells in any pieces", () => {
  const noise = fc.array(fc.constantFrom(",", '"', '""', "\n", "\r", " ", "a", "b", "\uFEFF", "\t"), { maxLength: 40 });
  fc.assert(
    fc.property(noise, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (units, pieces) => {
      const whole = new RecordSplitter();
      const records = [...whole.push(units.join("")), ...whole.end()];
      for (const { text: record, fault } of records) {
        const cells = cellsOf(record);
        if (fault === undefined) expect(cells).toBeDefined();
        else expect(cells === undefined || record === "").toBe(true);
      }
      const splitter = new RecordSplitter();
      const inPieces = [
        ...[...cut(units.join(""), pieces)].flatMap((piece) => splitter.push(piece.text)),
        ...splitter.end(),
      ];
      expect(inPieces).toEqual(records);
    }),
    { numRuns: 5_000 },
  );
});

describe("cells of plain records", () => {
  const part = fc.constantFrom(",", ";", "\t", '"', '""', '"a"', "\n", "\r", " ", "\u00A0", "a", "b c", "\uFEFF", "é");
  const cell = fc.oneof(fc.constantFrom("", "a", " a b ", '"a,""b"', '"\n"', '""'), part);
  const record = fc.oneof(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")),
    fc.array(cell, { maxLength: 8 }).chain((cells) => fc.constantFrom(...delimiters).map((by) => cells.join(by))),
  );
  const inputs = fc.tuple(record, fc.constantFrom(...delimiters));

  test("are those of fast-csv, which reads or refuses all others", () => {
    fc.assert(
      fc.property(inputs, ([line, delimiter]) => {
        const cells = plainCells(line, delimiter);
        expect(cells).toEqual(cells && parsedCells(line, delimiter));
      }),
      { numRuns: 20_000 },
    );
  });

  test("are generated, and others too", () => {
    const arePlain = fc.sample(inputs, { numRuns: 100, seed: 1 }).map((input) => plainCells(...input) !== undefined);
    expect(new Set(arePlain)).toEqual(new Set([true, false]));
  });
});

function cellText(value: ProductInput[keyof ProductInput], quoteAll: boolean): string {
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
