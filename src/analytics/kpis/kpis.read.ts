import type { Database } from "../../database/client.js";
import { type LiveStream, Prisma } from "../../generated/prisma/client.js";
import { isStorable } from "../../lib/text.js";
import { type DeviceTotal, type Kpis, kpisOf } from "./kpis.js";
import { type KpiColumns, kpiColumns } from "./kpis.sql.js";
import { hostOf, liveStreamNotFound, type LiveStreamStatus, timesOf } from "../shows/liveStream.js";

export interface LiveStreamAnalytics {
  readonly storeId: string;
  readonly id: string;
  readonly name: string;
  readonly status: LiveStreamStatus;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly durationSeconds: number;
  readonly host: { readonly name: string; readonly email: string } | null;
  readonly kpis: Kpis;
  readonly devices: readonly DeviceTotal[];
  /** The list that this show is in, if any. */
  readonly list?: readonly LiveStreamAnalytics[];
}

export type AnalyticsRow = Pick<
  LiveStream,
  "id" | "name" | "startedAt" | "durationSeconds" | "hostName" | "hostEmail"
> &
  KpiColumns & { readonly status: LiveStreamStatus };

/**
 * Reads totals, so that the cost does not depend on the number of events.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, also for another store's show
 */
export async function readAnalytics(db: Database, storeId: string, id: string): Promise<LiveStreamAnalytics> {
  const [show] = isStorable(id) ? await selectAnalytics(db, storeId, id) : [];
  if (show === undefined) throw liveStreamNotFound();
  return analyticsOf(storeId, show);
}

/** One statement, so that all figures are consistent. */
function selectAnalytics(db: Database, storeId: string, id: string): Promise<AnalyticsRow[]> {
  return db.$queryRaw<AnalyticsRow[]>`
    SELECT ${analyticsColumns(storeId)} FROM "LiveStream" AS s WHERE s."storeId" = ${storeId} AND s.id = ${id}`;
}

/** SELECT list for a show `s`. */
export function analyticsColumns(storeId: string): Prisma.Sql {
  return Prisma.sql`
    s.id, s.name, s.status, s."startedAt", s."durationSeconds", s."hostName", s."hostEmail", ${kpiColumns(storeId)}`;
}

export function analyticsOf(storeId: string, show: AnalyticsRow): LiveStreamAnalytics {
  const { id, name, status, startedAt, totals, devices, currency, sources } = show;
  const kpis = kpisOf(totals, devices, currency, sources);
  return { storeId, id, name, status, startedAt, ...timesOf(show), host: hostOf(show), kpis, devices };
}
