import type { Database, RootDatabase } from "../../database/client.js";
import { asLocked, LockedError, retryWhileLocked } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/rawParameters.js";
import { inTransaction } from "../../database/transaction.js";
import { queryStore, retryAfterMoves } from "../../database/sql/storeStatements.js";
import { Prisma } from "../../generated/prisma/client.js";
import { isSale, type ShopperEvent } from "../events.input.js";
import { keepGroups, keepProducts, otherName, unknownName } from "./countedNames.sql.js";
import { showRow } from "./showRow.js";
import { showLocked, trySharedLock } from "../../database/showLock.js";

/** How many distinct names a show counts. Limited, because any text may be a device or a product. */
export interface NameLimits {
  /** The most devices of each channel. Further ones count as `other`. */
  readonly devices: number;
  /** The most sources. Further ones count as `other`. */
  readonly sources: number;
  /** The most products. Further ones are not counted by product. */
  readonly products: number;
}

export const nameLimits: NameLimits = { devices: 1_000, sources: 50, products: 10_000 };

const kinds = ["LIVE", "REPLAY", "SOURCE", "PRODUCT"] as const;
type Kind = (typeof kinds)[number];

/** Names are never removed, unless the show is deleted. */
export interface CachedNames {
  /** Distinguishes the show from a later one with the same id. Undefined until it is known. */
  createdAt?: Date;
  readonly cached: Readonly<Record<Kind, Set<string>>>;
  /** Kinds at their limit, for which no names are cached. */
  readonly full: Set<Kind>;
}

export function noNames(): CachedNames {
  return { cached: noneOfEachKind(), full: new Set() };
}

function noneOfEachKind(): Record<Kind, Set<string>> {
  return { LIVE: new Set(), REPLAY: new Set(), SOURCE: new Set(), PRODUCT: new Set() };
}

function forgetNames({ cached, full }: CachedNames): void {
  for (const kind of kinds) cached[kind].clear();
  full.clear();
}

/**
 * Notes which show the names belong to, and clears them if it was deleted and created again.
 *
 * @returns whether they were cleared
 */
export function resetIfReplaced(names: CachedNames, createdAt: Date): boolean {
  const isReplaced = names.createdAt !== undefined && names.createdAt.getTime() !== createdAt.getTime();
  if (isReplaced) forgetNames(names);
  names.createdAt = createdAt;
  return isReplaced;
}

export function deviceName(device: string | null | undefined): string | null {
  return device?.trim().toLowerCase() || null;
}

/** A host, or the name of a campaign, in lower case. */
export function sourceName(source: string | null | undefined): string | null {
  return (
    source
      ?.trim()
      .toLowerCase()
      .replace(/^www\./u, "") || null
  );
}

export interface NewName {
  readonly kind: Kind;
  readonly name: string;
}

/** Distinct names of a batch that are not cached, in the order of the events. */
function newNames(events: readonly ShopperEvent[], { cached, full }: CachedNames): NewName[] {
  const found = noneOfEachKind();
  const names: NewName[] = [];
  const meet = (kind: Kind, name: string): void => {
    if (name === otherName && kind !== "PRODUCT") return;
    if (cached[kind].has(name) || full.has(kind) || found[kind].has(name)) return;
    found[kind].add(name);
    names.push({ kind, name });
  };
  for (const event of events) {
    const { type, channel, device, source } = event;
    if (!isSale(type) && channel !== "REFERRAL") meet(channel, deviceName(device) ?? unknownName);
    if (type !== "REFUND") meet("SOURCE", sourceName(source) ?? unknownName);
    for (const productId of productsOf(event)) meet("PRODUCT", productId);
  }
  return names;
}

function productsOf({ type, productId, lines }: ShopperEvent): readonly string[] {
  if (isSale(type) && lines && lines.length > 0) return lines.map((line) => line.productId);
  const isCounted = isSale(type) || type === "ADD_TO_CART";
  return isCounted && productId !== null && productId !== undefined ? [productId] : [];
}

/** Whether all names of a batch are known to be kept. */
export function areNamesReserved(events: readonly ShopperEvent[], known: CachedNames): boolean {
  return newNames(events, known).length === 0;
}

const limitOf = { LIVE: "devices", REPLAY: "devices", SOURCE: "sources", PRODUCT: "products" } as const;

interface NamedBatch {
  readonly storeId: string;
  readonly lsId: string;
  readonly events: readonly ShopperEvent[];
  readonly earliest: Date | null;
  /** Shows with these statuses do not take the events. */
  readonly refusedBy: readonly string[];
  readonly limits: NameLimits;
  readonly waitMs: number;
}

/**
 * Stores the new names of a batch, up to the show's limits, before the batch is recorded. One process at a time decides, and the decision
 * is final, so recording and rebuilding agree.
 *
 * @throws {AppError} UNAVAILABLE if the show stays locked
 */
export async function reserveNames(db: RootDatabase, known: CachedNames, batch: NamedBatch): Promise<void> {
  if (newNames(batch.events, known).length === 0) return;
  const key = lockKeyOf(batch);
  const attempt = async (): Promise<void> => {
    const names = newNames(batch.events, known); // another batch may have stored them
    if (names.length === 0) return;
    const store = () => inTransaction(db, { timeoutMs }, (transaction) => storeNames(transaction, names, batch));
    const stored = await retryAfterMoves(db, batch.storeId, store, batch.waitMs);
    if (stored === undefined) return;
    const { createdAt, counts } = stored;
    if (resetIfReplaced(known, createdAt)) return attempt();
    for (const { kind, name } of names) known.cached[kind].add(name);
    for (const { kind, kept } of counts) {
      if (kept < batch.limits[limitOf[kind]]) continue;
      known.full.add(kind);
      known.cached[kind].clear();
    }
  };
  await retryWhileLocked(key, attempt, { waitMs: batch.waitMs, refusal: showLocked });
}

/** Under this lock, one process at a time decides which names a show keeps. */
function lockKeyOf({ storeId, lsId }: Pick<NamedBatch, "storeId" | "lsId">): string {
  return `names of live stream ${storeId} ${lsId}`;
}

const timeoutMs = 15_000;

interface NameCount {
  readonly kind: Kind;
  readonly kept: number;
}

interface StoredNames {
  readonly createdAt: Date;
  /** How many names of each kind are now kept. */
  readonly counts: readonly NameCount[];
}

/** @returns undefined if the show takes no events */
async function storeNames(
  transaction: Database,
  names: readonly NewName[],
  batch: NamedBatch,
): Promise<StoredNames | undefined> {
  const { storeId, lsId, earliest } = batch;
  const [show] = await transaction.$queryRaw<{ hasLock: boolean; createdAt: Date }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${lockKeyOf(batch)}, 0)) AND ${trySharedLock(storeId, lsId)} AS "hasLock",
      "createdAt"
    FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} AND status <> ALL(${`{${batch.refusedBy.join(",")}}`}::text[])
      AND coalesce(${earliest}::timestamptz >= greatest("startedAt" - interval '24 hours', "prunedBefore"), true) FOR KEY SHARE`;
  if (show === undefined) return undefined;
  if (!show.hasLock) throw new LockedError();
  await insertNames(transaction, names, batch);
  const counts = await transaction.$queryRaw<NameCount[]>`
    SELECT kind, count(*)::int AS kept FROM "LiveStreamGroup"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1 AND name <> ${otherName} GROUP BY kind
    UNION ALL SELECT 'PRODUCT', count(*)::int FROM "LiveStreamProduct"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1`;
  return { createdAt: show.createdAt, counts };
}

type OfShow = Pick<NamedBatch, "storeId" | "lsId" | "limits">;

export interface NamesOfShow {
  readonly lsId: string;
  readonly names: readonly NewName[];
}

/**
 * Stores names that shows do not keep yet, up to their limits and whatever their status. Until the end of the transaction, no one else
 * decides about names of these shows.
 *
 * @returns whether all of them were kept already
 * @throws {LockedError} if another process is doing so
 */
export async function reserveNamesWithin(
  transaction: Database,
  storeId: string,
  shows: readonly NamesOfShow[],
  limits: NameLimits,
): Promise<boolean> {
  const nameKey = (lsId: string, { kind, name }: NewName) => `${lsId} ${kind} ${name}`;
  const all = shows.flatMap(({ lsId, names }) => names.map((name) => ({ lsId, ...name })));
  const [ids, ofKinds, texts] = (["lsId", "kind", "name"] as const).map((column) =>
    textArrayLiteral(all.map((row) => row[column])),
  );
  const kept = await transaction.$queryRaw<(NewName & { lsId: string })[]>`
    SELECT "liveStreamId" AS "lsId", kind, name FROM "LiveStreamGroup" WHERE "storeId" = ${storeId} AND slot = -1
      AND ("liveStreamId", kind, name) IN (SELECT * FROM unnest(${ids}::text[], ${ofKinds}::text[], ${texts}::text[]))
    UNION ALL SELECT "liveStreamId", 'PRODUCT', "productId" FROM "LiveStreamProduct" WHERE "storeId" = ${storeId} AND slot = -1
      AND ("liveStreamId", "productId") IN (SELECT * FROM unnest(${ids}::text[], ${texts}::text[]))`;
  const known = new Set(kept.map(({ lsId, ...name }) => nameKey(lsId, name)));
  let areKept = true;
  for (const { lsId, names } of shows) {
    const fresh = names.filter((name) => !known.has(nameKey(lsId, name)));
    if (fresh.length === 0) continue;
    areKept = false;
    const [lock] = await transaction.$queryRaw<{ isFree: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${lockKeyOf({ storeId, lsId })}, 0)) AS "isFree"
      FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId}`;
    if (lock?.isFree !== true) throw new LockedError();
    await insertNames(transaction, fresh, { storeId, lsId, limits });
  }
  return areKept;
}

/** Stores names up to the show's limits. Requires the lock of its names, or the show's exclusive lock. */
export async function insertNames(
  transaction: Database,
  names: readonly NewName[],
  { storeId, lsId, limits }: OfShow,
): Promise<void> {
  const row = showRow(storeId, lsId);
  const send = (keep: Prisma.Sql) => asLocked(queryStore(transaction, storeId, Prisma.sql`${keep} RETURNING 1`));
  // Separate statements, so that their snapshots include what the previous holder of the lock stored.
  const groups = names.filter(({ kind }) => kind !== "PRODUCT");
  const products = names.filter(({ kind }) => kind === "PRODUCT");
  const rows = Prisma.sql`unnest(${textArrayLiteral(groups.map(({ kind }) => kind))}::text[], ${textArrayLiteral(groups.map(({ name }) => name))}::text[])
    WITH ORDINALITY AS n(kind, name, position)`;
  if (groups.length > 0) await send(keepGroups(row, rows, limits));
  const ids = Prisma.sql`unnest(${textArrayLiteral(products.map(({ name }) => name))}::text[]) WITH ORDINALITY AS n("productId", position)`;
  if (products.length > 0) await send(keepProducts(row, ids, limits.products));
}
