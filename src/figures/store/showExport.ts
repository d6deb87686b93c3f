import type { RootDatabase } from "../../database/client.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import type { OpenRange } from "../../lib/dateRange.js";
import { analyticsOf, type AnalyticsRow, kpiColumns } from "../show/kpis.read.js";
import { kpisOf } from "../show/kpis.js";
import { momentCells, momentColumns, quotedMomentColumns, readMomentFigures } from "./momentRows.js";
import { quotedColumns, showCells, showColumns, type ShowDelimiter } from "./showColumns.js";
import { pagesOfShows } from "./storeFigures.js";

export type ShowExportFormat = "csv" | "ndjson";

export interface ShowExportOptions extends OpenRange {
  /** For CSV. */
  readonly delimiter?: ShowDelimiter;
  /** Whether CSV begins with a byte order mark, which tells Excel that it is UTF-8. */
  readonly hasBom?: boolean;
  /** Called with the number of rows so far. */
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Figures of the shows that started within a range, in the order of their start: CSV with a header, or NDJSON, which has their moments
 * too, in constant memory. Each show's own figures are consistent.
 *
 * @throws {AppError} UNAVAILABLE
 */
export async function* exportShows(
  db: RootDatabase,
  storeId: string,
  format: ShowExportFormat,
  { delimiter = ",", hasBom = false, onProgress, ...wanted }: ShowExportOptions = {},
): AsyncGenerator<Buffer, void> {
  let opening = format === "csv" ? headerOf(showColumns, delimiter, hasBom) : "";
  let shows = 0;
  for await (const page of pagesOf(db, storeId, wanted)) {
    const lines = format === "csv" ? csvLines(page, delimiter) : ndjsonLines(db, page);
    for await (const line of lines) {
      yield Buffer.from(`${opening}${line}`);
      opening = "";
    }
    onProgress?.((shows += page.length));
  }
}

/**
 * Figures of the moments of these shows, in the order of the shows and of their own start: CSV with a header, in constant memory.
 *
 * @throws {AppError} UNAVAILABLE
 */
export async function* exportMoments(
  db: RootDatabase,
  storeId: string,
  { delimiter = ",", hasBom = false, onProgress, ...wanted }: ShowExportOptions = {},
): AsyncGenerator<Buffer, void> {
  let opening = headerOf(momentColumns, delimiter, hasBom);
  let count = 0;
  for await (const page of pagesOf(db, storeId, wanted)) {
    if (opening !== "") yield Buffer.from(opening); // once the database has answered
    opening = "";
    for (const show of page.filter(({ hasMoments }) => hasMoments)) {
      const moments = await readMomentFigures(db, show);
      const rows = moments.map((moment) => momentCells(show.id, moment, delimiter));
      yield Buffer.from(await csvOf(rows, delimiter, quotedMomentColumns));
      onProgress?.((count += rows.length));
    }
  }
}

function headerOf(columns: readonly string[], delimiter: ShowDelimiter, hasBom: boolean): string {
  return `${hasBom ? "\ufeff" : ""}${columns.join(delimiter)}\n`;
}

async function csvOf(rows: readonly (readonly string[])[], delimiter: ShowDelimiter, quoted: readonly boolean[]) {
  const { formatCsv } = await import("../../lib/fastCsv.js"); // imported only here, because its library slows down each command's start
  return formatCsv(rows, { delimiter, quoted });
}

type ExportedShow = LiveStream & AnalyticsRow & { readonly hasMoments: boolean };

function pagesOf(db: RootDatabase, storeId: string, { from, until, signal }: ShowExportOptions) {
  const select = Prisma.sql`
    SELECT s.*, ${kpiColumns(storeId)}, EXISTS (
      SELECT FROM "ShowMoment" AS m WHERE m."storeId" = ${storeId} AND m.show = s.number) AS "hasMoments"
    FROM "LiveStream" AS s`;
  return pagesOfShows<ExportedShow>(db, storeId, { from, until }, select, signal);
}

async function* csvLines(shows: readonly ExportedShow[], delimiter: ShowDelimiter): AsyncGenerator<string, void> {
  const rows = shows.map((show) => {
    const figures = analyticsOf(show.storeId, show);
    return showCells({ ...figures, kpis: kpisOf(figures.totals) }, show.currency, delimiter);
  });
  yield csvOf(rows, delimiter, quotedColumns);
}

async function* ndjsonLines(db: RootDatabase, shows: readonly ExportedShow[]) {
  for (const show of shows) {
    const { id, name, status, startedAt, endedAt, durationSeconds, totals } = analyticsOf(show.storeId, show);
    const moments = show.hasMoments ? await readMomentFigures(db, show) : [];
    const { currency } = show;
    const line = { id, name, status, startedAt, endedAt, durationSeconds, currency, kpis: kpisOf(totals), moments };
    yield `${JSON.stringify(line)}\n`;
  }
}
