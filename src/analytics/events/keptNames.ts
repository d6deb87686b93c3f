import { retryAfterMove } from "../../database/citus/moves.js";
import { queryOnNode } from "../../database/citus/onNode.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { isOfCallersStore } from "../../database/shares/caller.js";
import { asLocked, LockedError, whenUnlocked } from "../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../database/sql/arrayLiteral.js";
import { inTransaction } from "../../database/transaction.js";
import { Prisma } from "../../generated/prisma/client.js";
import { isSale, type ShopperEventInput } from "./events.input.js";
import { keepDevices, keepProducts, otherDevice, unknownDevice } from "./storage/keptNames.sql.js";
import { showRow } from "./storage/showRow.js";
import { showLocked, trySharedLock } from "../shows/showLock.js";

/** How many distinct names a show counts: any text may be a device or a product. */
export interface NameLimits {
  /** The most devices of each channel. Further ones count as `other`. */
  readonly devices: number;
  /** Further ones are not counted by product. */
  readonly products: number;
}

export const nameLimits: NameLimits = { devices: 1_000, products: 10_000 };

const kinds = ["LIVE", "REPLAY", "PRODUCT"] as const;
type Kind = (typeof kinds)[number];

/** Names are never removed, unless the show is deleted. */
export interface CachedNames {
  /** Tells the show from a later one with its id. Undefined until it is known. */
  createdAt?: Date;
  readonly cached: Readonly<Record<Kind, Set<string>>>;
  /** Kinds at their limit, for which no names are cached. */
  readonly full: Set<Kind>;
}

export function noNames(): CachedNames {
  return { cached: { LIVE: new Set(), REPLAY: new Set(), PRODUCT: new Set() }, full: new Set() };
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

interface NewNames {
  readonly kind: Kind;
  readonly name: string;
}

/** Distinct names of a batch that are not cached, in the order of the events. */
function newNames(events: readonly ShopperEventInput[], { cached, full }: CachedNames): NewNames[] {
  const found = { LIVE: new Set<string>(), REPLAY: new Set<string>(), PRODUCT: new Set<string>() };
  const names: NewNames[] = [];
  const meet = (kind: Kind, name: string): void => {
    if (cached[kind].has(name) || full.has(kind) || found[kind].has(name)) return;
    found[kind].add(name);
    names.push({ kind, name });
  };
  for (const event of events) {
    const { type, channel, device } = event;
    if (!isSale(type) && channel !== "REFERRAL") {
      const name = deviceName(device) ?? unknownDevice;
      if (name !== otherDevice) meet(channel, name);
    }
    for (const productId of productsOf(event)) meet("PRODUCT", productId);
  }
  return names;
}

function productsOf({ type, productId, lines }: ShopperEventInput): readonly string[] {
  if (isSale(type) && lines && lines.length > 0) return lines.map((line) => line.productId);
  const isCounted = isSale(type) || type === "ADD_TO_CART";
  return isCounted && productId !== null && productId !== undefined ? [productId] : [];
}

/** Whether a batch has no names to keep, as far as they are cached. */
export function areNamesKept(events: readonly ShopperEventInput[], known: CachedNames): boolean {
  return newNames(events, known).length === 0;
}

interface NamedBatch {
  readonly storeId: string;
  readonly lsId: string;
  readonly events: readonly ShopperEventInput[];
  readonly earliest: Date | null;
  readonly limits: NameLimits;
  readonly waitMs: number;
}

/**
 * Stores the new names of a batch, up to the show's limits, before the batch is recorded. One process at a time
 * decides, and for good, so recording and rebuilding agree.
 *
 * @throws {AppError} UNAVAILABLE where the show stays locked
 */
export async function keepNames(db: RootDatabase, known: CachedNames, batch: NamedBatch): Promise<void> {
  if (newNames(batch.events, known).length === 0) return;
  const key = `names of live stream ${batch.storeId} ${batch.lsId}`;
  const attempt = async (): Promise<void> => {
    const names = newNames(batch.events, known); // another batch may have stored them
    if (names.length === 0) return;
    const store = () => inTransaction(db, { timeoutMs }, (transaction) => storeNames(transaction, key, names, batch));
    const stored = await retryAfterMove(db, batch.storeId, store, batch.waitMs);
    if (stored === undefined) return;
    const { createdAt, counts } = stored;
    if (resetIfReplaced(known, createdAt)) return attempt();
    for (const { kind, name } of names) known.cached[kind].add(name);
    for (const { kind, kept } of counts) {
      if (kept < (kind === "PRODUCT" ? batch.limits.products : batch.limits.devices)) continue;
      known.full.add(kind);
      known.cached[kind].clear();
    }
  };
  await whenUnlocked(key, attempt, { waitMs: batch.waitMs, refusal: showLocked });
}

const timeoutMs = 15_000;

interface NameCount {
  readonly kind: Kind;
  readonly kept: number;
}

interface StoredNames {
  readonly createdAt: Date;
  /** How many names of each kind are kept now. */
  readonly counts: readonly NameCount[];
}

/** @returns undefined where the show takes no events */
async function storeNames(
  transaction: Database,
  lockKey: string,
  names: readonly NewNames[],
  { storeId, lsId, earliest, limits }: NamedBatch,
): Promise<StoredNames | undefined> {
  const [show] = await transaction.$queryRaw<{ hasLock: boolean; createdAt: Date }[]>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${lockKey}, 0)) AND ${trySharedLock(storeId, lsId)} AS "hasLock",
      "createdAt"
    FROM "LiveStream" WHERE "storeId" = ${storeId} AND id = ${lsId} AND status NOT IN ('SCHEDULED', 'ARCHIVED')
      AND ${isOfCallersStore(transaction, storeId)}
      AND coalesce(${earliest}::timestamptz >= greatest("startedAt" - interval '24 hours', "prunedBefore"), true) FOR KEY SHARE`;
  if (show === undefined) return undefined;
  if (!show.hasLock) throw new LockedError();
  const row = showRow(storeId, lsId);
  const send = (keep: Prisma.Sql) => asLocked(queryOnNode(transaction, storeId, Prisma.sql`${keep} RETURNING 1`));
  // Separate statements: their snapshots include what the previous holder of the lock stored.
  const devices = names.filter(({ kind }) => kind !== "PRODUCT");
  const products = names.filter(({ kind }) => kind === "PRODUCT");
  const rows = Prisma.sql`unnest(${textArrayLiteral(devices.map(({ kind }) => kind))}::text[], ${textArrayLiteral(devices.map(({ name }) => name))}::text[])
    WITH ORDINALITY AS n(channel, device, position)`;
  if (devices.length > 0) await send(keepDevices(row, rows, limits.devices));
  const ids = Prisma.sql`unnest(${textArrayLiteral(products.map(({ name }) => name))}::text[]) WITH ORDINALITY AS n("productId", position)`;
  if (products.length > 0) await send(keepProducts(row, ids, limits.products));
  const counts = await transaction.$queryRaw<NameCount[]>`
    SELECT channel AS kind, count(*)::int AS kept FROM "LiveStreamDevice"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1 AND device <> ${otherDevice} GROUP BY channel
    UNION ALL SELECT 'PRODUCT', count(*)::int FROM "LiveStreamProduct"
    WHERE "storeId" = ${storeId} AND "liveStreamId" = ${lsId} AND slot = -1`;
  return { createdAt: show.createdAt, counts };
}
