import * as fc from "fast-check";
import { expect, test } from "vitest";
import { importCsv } from "../../../../../src/catalog/import/ways/text.js";
import type { CsvResult } from "../../../../../src/catalog/sources/csv/csv.js";
import { createTestStore, openTestApp } from "../../../../support/app.js";
import { readAnswer } from "../../../../support/call.js";
import { csvOf } from "../../../../support/catalog/formats.js";
import { layoutFiles, rowsOfLayout } from "../../../../support/catalog/layoutFiles.js";
import { paths, storedProducts } from "../../../../support/products.js";

const app = await openTestApp();

test.each(Object.entries(layoutFiles))(
  "%s: over REST and as a text, rows are stored, or have failed, or are named as skipped",
  async (_, layout) => {
    const { header, urlTemplate } = layout;
    for (const rows of fc.sample(rowsOfLayout(layout), 4)) {
      const file = csvOf(header, rows);
      const store = await createTestStore(app);
      const query = new URLSearchParams({
        format: "auto",
        errorPolicy: "REJECT_FAILED",
        ...(urlTemplate && { urlTemplate }),
      });
      const call = { method: "POST", headers: { "content-type": "text/csv" }, body: file };
      const { status, body } = await readAnswer(await store.fetch(`${paths.csv}?${query.toString()}`, call));
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.imported + body.failed + (body.skipped ?? 0), file).toBe(rows.length);
      expect(await storedProducts(app, store)).toHaveLength(body.imported);

      const other = await createTestStore(app);
      let read: CsvResult | undefined;
      const fileFormat = { format: "auto" as const, ...(urlTemplate && { urlTemplate }) };
      const onRead = (found: CsvResult) => void (read = found);
      const result = await importCsv(
        app.db,
        other.id,
        { text: file },
        { fileFormat, errorPolicy: "REJECT_FAILED", onRead },
      );
      expect([result.imported, result.failed, read?.skipped ?? 0]).toEqual([
        body.imported,
        body.failed,
        body.skipped ?? 0,
      ]);
    }
  },
);
