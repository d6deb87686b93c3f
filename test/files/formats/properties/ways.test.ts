import * as fc from "fast-check";
import { expect, test } from "vitest";
import { importCsv } from "../../../../src/catalog/import/entryPoints/fileProducts.js";
import type { CsvResult } from "../../../../src/files/csv/csv.js";
import { createTestStore, openTestApp } from "../../../support/app.js";
import { readAnswer } from "../../../support/call.js";
import { csvOf } from "../../../support/catalog/formats.js";
import { layoutFiles, rowsOfLayout } from "../../../support/catalog/layoutFiles.js";
import { paths, storedProducts } from "../../../support/products.js";

const app = await openTestApp();

test.each(Object.entries(layoutFiles))(
  "%s: over REST and as a text, rows are stored, or have failed, or are named as skipped",
  async (_, layout) => {
    const { header, urlTemplate } = layout;
    const [rows = []] = fc.sample(rowsOfLayout(layout), 1);
    const file = csvOf(header, rows);
    const store = await createTestStore(app);
    const given = { format: "auto", ...(urlTemplate !== "" && { urlTemplate }) } as const;
    let read: CsvResult | undefined;
    const onRead = (found: CsvResult) => void (read = found);
    const options = { fileFormat: given, errorPolicy: "REJECT_FAILED", dryRun: true, onRead } as const;
    const { imported, failed } = await importCsv(app.db, store.id, { text: file }, options);
    expect(imported + failed + (read?.skipped ?? 0), file).toBe(rows.length);

    const query = new URLSearchParams({ ...given, errorPolicy: "REJECT_FAILED" }).toString();
    const call = { method: "POST", headers: { "content-type": "text/csv" }, body: file };
    const { status, body } = await readAnswer(await store.fetch(`${paths.csv}?${query}`, call));
    expect([status, body.imported, body.failed, body.skipped ?? 0]).toEqual([
      200,
      imported,
      failed,
      read?.skipped ?? 0,
    ]);
    expect(await storedProducts(app, store)).toHaveLength(imported);
  },
);
