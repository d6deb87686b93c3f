import * as fc from "fast-check";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import type { FormatReadOptions } from "../../../../src/files/formats/fileState.js";
import { layouts } from "../../../../src/files/formats/recognize.js";
import { readCatalog } from "../../../../src/files/formats/readFile.js";
import { rejectedText } from "../../../../src/files/formats/failedSourceRows.js";
import { LineSet } from "../../../../src/cli/products/failedRowsFile.js";
import { collect, rowsOf } from "../../../support/catalog/csvReading.js";
import { csvOf } from "../../../support/catalog/formats.js";
import { type LayoutFile, layoutFiles, rowsOfLayout } from "../../../support/catalog/layoutFiles.js";

const encodings = [
  ["utf-8", {}],
  ["utf-8", { addBOM: true }],
  ["windows-1252", {}],
  ["utf-16le", { addBOM: true }],
  ["utf-16be", { addBOM: false }],
] as const;

interface Case {
  readonly rows: readonly Readonly<Record<string, string>>[];
  readonly encoding: (typeof encodings)[number];
  readonly delimiter: string;
  readonly pieceBytes: number;
}

const cases = (layout: LayoutFile): fc.Arbitrary<Case> =>
  fc.record({
    rows: rowsOfLayout(layout),
    encoding: fc.constantFrom(...encodings),
    delimiter: fc.constantFrom(",", ";", "\t"),
    pieceBytes: fc.constantFrom(7, 100_000),
  });

function optionsOf({ urlTemplate }: LayoutFile, { encoding: [encoding] }: Case): FormatReadOptions {
  return {
    errorPolicy: "REJECT_FAILED",
    ...(urlTemplate !== "" && { urlTemplate }),
    ...(encoding === "windows-1252" && { encoding }),
  };
}

/** Lines of products that are stored, and of rows that failed. */
async function read(bytes: Buffer, options: FormatReadOptions, pieceBytes: number) {
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  };
  const { chunks, result } = await collect(readCatalog(open, options));
  expect(result.problems.list).toEqual([]);
  const failed = new Set(result.failed?.list.map(({ line }) => line));
  const stored = rowsOf(chunks).filter(({ line }) => !failed.has(Number(line)));
  return { open, stored, failed, skipped: result.skipped ?? 0, format: result.format, notes: result.notes };
}

const fileOf = ({ header }: LayoutFile, { rows, delimiter, encoding: [encoding, marks] }: Case) =>
  iconv.encode(csvOf(header, rows, delimiter), encoding, marks);

/** Rows of one product beside each other, as systems write them: without others between them, they would mean something else. */
function beside(name: string, rows: Case["rows"]): Case["rows"] {
  const key = {
    shopify: "Handle",
    matrixify: "Handle",
    wix: "handleId",
    ecwid: "product_internal_id",
    squarespace: "Product ID [Non Editable]",
  }[name];
  if (key === undefined) return rows;
  const keyed = rows.map((row) => ({ ...row, [key]: row[key] || "Z" }));
  return keyed.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1));
}

test("all layouts are among them", () => {
  expect(Object.keys(layoutFiles).toSorted()).toEqual([...Object.keys(layouts), "vitrine"].toSorted());
});

describe.each(Object.entries(layoutFiles))("%s", (name, layout) => {
  test("rows are stored, or have failed, or are named as skipped; those that failed are written so that they fail again", async () => {
    const property = fc.asyncProperty(cases(layout), async (random) => {
      const options = optionsOf(layout, random);
      const found = await read(fileOf(layout, random), options, random.pieceBytes);
      expect(found.format).toBe(name);
      expect(found.stored.length + found.failed.size + found.skipped, JSON.stringify(found.notes)).toBe(
        random.rows.length,
      );
      const given = { ...random, rows: beside(name, random.rows) };
      const first = given.rows === random.rows ? found : await read(fileOf(layout, given), options, given.pieceBytes);
      const accepted = new LineSet();
      for (const { line } of first.stored) accepted.add(Number(line));
      let rejects = "";
      for await (const text of rejectedText(first.open, { accepted, needed: new LineSet(), options })) rejects += text;
      const again = await read(Buffer.from(rejects), options, 1_000);
      expect(again.failed.size).toBe(first.failed.size);
      expect(again.stored.every((product) => first.stored.some(({ id }) => id === product["id"]))).toBe(true);
    });
    await fc.assert(property);
  });
});
