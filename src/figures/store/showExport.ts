import type { RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { Prisma } from "../../generated/prisma/client.js";
import { analyticsColumns, analyticsOf, type AnalyticsRow, type LiveStreamAnalytics } from "../show/kpis.read.js";
import { kpisOf } from "../show/kpis.js";
import { momentCells, momentColumns, quotedMomentColumns, readMomentFigures } from "./momentRows.js";
import { quotedColumns, showCells, showColumns, type ShowDelimiter } from "./showColumns.js";
import type { StoreRange } from "./storeRange.js";

export type ShowExportFormat = "csv" | "ndjson";

export interface ShowExportOptions extends Partial<Pick<StoreRange, "from" | "until">> {
  /** For CSV. */
  readonly delimiter?: ShowDelimiter;
  /** Whether CSV begins with a byte order mark, which tells Excel that it is UTF-8. */
  readonly hasBom?: boolean;
  /** Called with the number of rows so far. */
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const showsPerPage = 200;

type Position = Pick<LiveStreamAnalytics, "startedAt" | "id">;

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
    const lines = format === "csv" ? csvLines(page, delimiter) : ndjsonLines(db, storeId, page);
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
    for (const { show } of page.filter(({ hasMoments }) => hasMoments)) {
      const moments = await readMomentFigures(db, storeId, show.id);
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

interface ExportedShow {
  readonly show: LiveStreamAnalytics;
  readonly currency: string | null;
  readonly hasMoments: boolean;
}

/** Shows in pages; at least one page, which may be empty. */
async function* pagesOf(
  db: RootDatabase,
  storeId: string,
  { signal, ...range }: Pick<ShowExportOptions, "from" | "until" | "signal">,
): AsyncGenerator<readonly ExportedShow[], void> {
  for (let after: Position | undefined; ;) {
    const rows = await asWideRead(db, storeId, () => readPage(db, storeId, range, after), signal);
    yield rows.map((row) => ({ ...row, show: analyticsOf(storeId, row) }));
    after = rows.at(-1);
    if (rows.length < showsPerPage) return;
  }
}

interface PageRow extends AnalyticsRow {
  readonly hasMoments: boolean;
}

function readPage(
  db: RootDatabase,
  storeId: string,
  { from, until }: Pick<ShowExportOptions, "from" | "until">,
  after: Position | undefined,
): Promise<PageRow[]> {
  const conditions = [
    Prisma.sql`s."storeId" = ${storeId} AND s.status <> 'SCHEDULED'`,
    ...(from === undefined ? [] : [Prisma.sql`s."startedAt" >= ${from.toISOString()}::timestamptz`]),
    ...(until === undefined ? [] : [Prisma.sql`s."startedAt" < ${until.toISOString()}::timestamptz`]),
    ...(after === undefined
      ? []
      : [Prisma.sql`(s."startedAt", s.id) > (${after.startedAt.toISOString()}::timestamptz, ${after.id})`]),
  ];
  return db.$queryRaw<PageRow[]>`
    SELECT ${analyticsColumns(storeId)}, EXISTS (
      SELECT FROM "ShowMoment" AS m WHERE m."storeId" = ${storeId} AND m.show = s.number) AS "hasMoments"
    FROM "LiveStream" AS s WHERE ${Prisma.join(conditions, " AND ")}
    ORDER BY s."startedAt", s.id LIMIT ${showsPerPage}::int`;
}

async function* csvLines(shows: readonly ExportedShow[], delimiter: ShowDelimiter): AsyncGenerator<string, void> {
  const rows = shows.map(({ show, currency }) =>
    showCells({ ...show, kpis: kpisOf(show.totals) }, currency, delimiter),
  );
  yield csvOf(rows, delimiter, quotedColumns);
}

async function* ndjsonLines(db: RootDatabase, storeId: string, shows: readonly ExportedShow[]) {
  for (const { show, currency, hasMoments } of shows) {
    const { id, name, status, startedAt, endedAt, durationSeconds, totals } = show;
    const moments = hasMoments ? await readMomentFigures(db, storeId, id) : [];
    const line = { id, name, status, startedAt, endedAt, durationSeconds, currency, kpis: kpisOf(totals), moments };
    yield `${JSON.stringify(line)}\n`;
  }
}
