import type { RootDatabase } from "../../database/client.js";
import { asWideRead } from "../../database/shares/forStore.js";
import { Prisma } from "../../generated/prisma/client.js";
import { analyticsColumns, analyticsOf, type AnalyticsRow, type LiveStreamAnalytics } from "../show/kpis.read.js";
import { kpisOf } from "../show/kpis.js";
import { quotedColumns, showCells, showColumns, type ShowDelimiter } from "./showColumns.js";
import type { StoreRange } from "./storeRange.js";

export type ShowExportFormat = "csv" | "ndjson";

export interface ShowExportOptions extends Partial<Pick<StoreRange, "from" | "until">> {
  /** For CSV. */
  readonly delimiter?: ShowDelimiter;
  /** Whether CSV begins with a byte order mark, which tells Excel that it is UTF-8. */
  readonly hasBom?: boolean;
  readonly onProgress?: (shows: number) => void;
  readonly signal?: AbortSignal | undefined;
}

const showsPerPage = 200;

type Position = Pick<LiveStreamAnalytics, "startedAt" | "id">;

/**
 * Figures of the shows that started within a range, in the order of their start: CSV with a header, or NDJSON, in constant memory. Each
 * row by itself is consistent.
 *
 * @throws {AppError} UNAVAILABLE
 */
export async function* exportShows(
  db: RootDatabase,
  storeId: string,
  format: ShowExportFormat,
  { delimiter = ",", hasBom = false, onProgress, signal, ...range }: ShowExportOptions = {},
): AsyncGenerator<Buffer, void> {
  const linesOf = format === "csv" ? csvLines(delimiter) : ndjsonLines;
  let opening = format === "csv" ? `${hasBom ? "\ufeff" : ""}${showColumns.join(delimiter)}\n` : "";
  let shows = 0;
  for (let after: Position | undefined; ;) {
    const rows = await asWideRead(db, storeId, () => readPage(db, storeId, range, after), signal);
    if (rows.length > 0 || opening !== "") {
      const exported = rows.map((row) => ({ show: analyticsOf(storeId, row), currency: row.currency }));
      yield Buffer.from(`${opening}${await linesOf(exported)}`);
    }
    opening = "";
    shows += rows.length;
    onProgress?.(shows);
    after = rows.at(-1);
    if (rows.length < showsPerPage) return;
  }
}

function readPage(
  db: RootDatabase,
  storeId: string,
  { from, until }: Pick<ShowExportOptions, "from" | "until">,
  after: Position | undefined,
): Promise<AnalyticsRow[]> {
  const conditions = [
    Prisma.sql`s."storeId" = ${storeId} AND s.status <> 'SCHEDULED'`,
    ...(from === undefined ? [] : [Prisma.sql`s."startedAt" >= ${from.toISOString()}::timestamptz`]),
    ...(until === undefined ? [] : [Prisma.sql`s."startedAt" < ${until.toISOString()}::timestamptz`]),
    ...(after === undefined
      ? []
      : [Prisma.sql`(s."startedAt", s.id) > (${after.startedAt.toISOString()}::timestamptz, ${after.id})`]),
  ];
  return db.$queryRaw<AnalyticsRow[]>`
    SELECT ${analyticsColumns(storeId)} FROM "LiveStream" AS s WHERE ${Prisma.join(conditions, " AND ")}
    ORDER BY s."startedAt", s.id LIMIT ${showsPerPage}::int`;
}

interface ExportedShow {
  readonly show: LiveStreamAnalytics;
  readonly currency: string | null;
}

function csvLines(delimiter: ShowDelimiter) {
  return async (shows: readonly ExportedShow[]): Promise<string> => {
    const { formatCsv } = await import("../../lib/fastCsv.js"); // imported only here, because its library slows down each command's start
    const rows = shows.map(({ show, currency }) =>
      showCells({ ...show, kpis: kpisOf(show.totals) }, currency, delimiter),
    );
    return formatCsv(rows, { delimiter, quoted: quotedColumns });
  };
}

function ndjsonLines(shows: readonly ExportedShow[]): string {
  const lines = shows.map(({ show: { id, name, status, startedAt, endedAt, durationSeconds, totals }, currency }) =>
    JSON.stringify({ id, name, status, startedAt, endedAt, durationSeconds, currency, kpis: kpisOf(totals) }),
  );
  return lines.map((line) => `${line}\n`).join("");
}
