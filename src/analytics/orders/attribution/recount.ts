import type { Database, RootDatabase } from "../../../database/client.js";
import { engineOf } from "../../../database/engine.js";
import { withRawParameters } from "../../../database/rawParameters.js";
import { asLocked, whenUnlocked } from "../../../database/shares/lockWait.js";
import { textArrayLiteral } from "../../../database/sql/arrayLiteral.js";
import { queryStore } from "../../../database/sql/storeStatements.js";
import { inTransaction, setLocal } from "../../../database/transaction.js";
import { Prisma } from "../../../generated/prisma/client.js";
import { noteDue } from "../../totals/foldDue.js";
import { type EntriesOfShow, namesOf, recordColumns } from "../ledger.js";
import { attribute, ordersLocked } from "../order.record.js";
import { lockOrders } from "../order.store.js";
import type { Attribution } from "./codes.js";
import { attributionOf, type AttributionSettings } from "./settings.js";
import { type MovedOrders, type MovedShow, moveWhole } from "./whole.sql.js";

/** Until a piece is committed, others wait for its orders and totals; on the embedded engine, for the only session. */
const pieceOrders = { server: 4_000, embedded: 500 };
const timeoutMs = 60_000;
const waitMs = 60_000;

/**
 * Changes the rule by which a store's orders count, and counts all of them anew: in pieces, each as a whole, while figures can be
 * read. Orders that come meanwhile count by the new rule. If this process ends before, a server goes on.
 *
 * @returns how many orders there are, and the ids of the shows whose figures changed
 * @throws {AppError} UNAVAILABLE where orders or shows stay locked
 */
export async function setAttribution(
  db: RootDatabase,
  storeId: string,
  { rule, windowHours }: Attribution,
  signal?: AbortSignal,
): Promise<{ readonly orders: number; readonly changed: readonly string[] }> {
  const data = { attributionRule: rule, attributionHours: windowHours, recountedTo: "", recountedFrom: null };
  await db.store.updateMany({ where: { id: storeId }, data });
  return recount(db, storeId, signal);
}

/** Counts a store's orders anew, from where an earlier call ended. */
async function recount(
  db: RootDatabase,
  storeId: string,
  signal?: AbortSignal,
): Promise<{ readonly orders: number; readonly changed: readonly string[] }> {
  const changed = new Set<string>();
  const go = async (direction: Direction): Promise<void> => {
    const piece = (transaction: Database) => asLocked(recountPiece(transaction, storeId, direction));
    const work = () => inTransaction(db, { timeoutMs }, piece);
    for (;;) {
      if (signal?.aborted === true) return;
      const key = `recount ${storeId} ${direction}`;
      const counted = await whenUnlocked(key, work, { waitMs, signal, refusal: ordersLocked });
      for (const lsId of counted.changed) {
        changed.add(lsId);
        noteDue(db, storeId, lsId);
      }
      if (!counted.isRest) return;
    }
  };
  const [up, down] = await Promise.allSettled([go("up"), go("down")]); // nothing goes on once an error is thrown
  for (const each of [up, down]) if (each.status === "rejected") throw each.reason;
  return { orders: await db.shopOrder.count({ where: { storeId } }), changed: [...changed] };
}

/**
 * Two pieces are counted at a time, since each takes a core of the database: one goes up from the first order, the other one down
 * from the last. Orders that both count are counted twice, which changes nothing.
 */
type Direction = "up" | "down";

/** What is still to be counted: orders with ids between these. */
interface Rest {
  readonly after: string;
  /** Null for all. */
  readonly before: string | null;
}

async function recountPiece(transaction: Database, storeId: string, direction: Direction) {
  await setLocal(transaction, { jit: "off" }); // compiling takes several times as long as what it would speed up
  // A statement of its own: the next one sees what the process that had the lock has stored.
  await transaction.$queryRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`recount ${storeId} ${direction}`}, 0))::text FROM "Store" WHERE id = ${storeId}`;
  const store = await transaction.store.findFirst({
    where: { id: storeId },
    select: { recountedTo: true, recountedFrom: true },
  });
  if (store === null || store.recountedTo === null) return { isRest: false, changed: [] };
  const rest = { after: store.recountedTo, before: store.recountedFrom };
  const take = engineOf(transaction).kind === "embedded" ? pieceOrders.embedded : pieceOrders.server;
  const order = direction === "up" ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  // Locked before the rule is read, so that none is counted by an earlier rule afterwards.
  const next = await transaction.$queryRaw<{ id: string }[]>`
    SELECT id FROM "ShopOrder" WHERE "storeId" = ${storeId} AND id > ${rest.after} AND coalesce(id < ${rest.before}, true)
    ORDER BY id ${order} LIMIT ${take}::int FOR UPDATE`;
  const ids = next.map(({ id }) => id);
  const attribution = await attributionOf(transaction, storeId);
  const isByOrder = attribution.rule === "CART";
  const whole = isByOrder ? { changed: [], others: ids } : await recountWhole(transaction, storeId, ids, attribution);
  const changed = await recountByOrder(transaction, storeId, whole.others, attribution);
  const isRest = ids.length === take;
  await noteProgress(transaction, storeId, { direction, rest, attribution, last: isRest ? ids.at(-1) : undefined });
  return { isRest, changed: [...whole.changed, ...changed] };
}

interface Progress {
  readonly direction: Direction;
  readonly rest: Rest;
  readonly attribution: Attribution;
  /** Undefined where nothing is left. */
  readonly last: string | undefined;
}

/** Unless orders are to be counted from the beginning again: the rule was changed meanwhile. */
async function noteProgress(
  transaction: Database,
  storeId: string,
  { direction, rest, attribution, last }: Progress,
): Promise<void> {
  const isUp = direction === "up";
  const none = { recountedTo: null, recountedFrom: null };
  await transaction.store.updateMany({
    where: {
      id: storeId,
      attributionRule: attribution.rule,
      attributionHours: attribution.windowHours,
      ...(isUp ? { recountedTo: rest.after } : { recountedFrom: rest.before }),
    },
    data: last === undefined ? none : { [isUp ? "recountedTo" : "recountedFrom"]: last },
  });
}

/**
 * Orders in one part, by a rule that leaves them so: by statements alone, since a store may have millions.
 *
 * @returns the ids of the shows whose figures changed, and of the orders that are not in one part, which are left
 */
async function recountWhole(
  transaction: Database,
  storeId: string,
  ids: readonly string[],
  attribution: Attribution,
): Promise<{ readonly changed: readonly string[]; readonly others: readonly string[] }> {
  return withRawParameters(async (bind) => {
    const list = Prisma.sql`${bind(textArrayLiteral(ids))}::text[]`;
    const [moved] = await queryStore<MovedOrders>(transaction, storeId, moveWhole(storeId, list, attribution));
    const { shows, others, count, ...entries } = moved as MovedOrders; // an aggregate is always one row
    if (shows !== null) {
      const bound = Object.fromEntries(Object.entries(entries).map(([name, values]) => [name, bind(values)]));
      const columns = { ...(bound as typeof entries), count, device: "{}", source: "{}", productId: "{}" };
      await recordColumns(transaction, storeId, shows.map(entriesOfShow), columns);
    }
    return { changed: shows?.map(({ id }) => id) ?? [], others: others ?? [] };
  });
}

function entriesOfShow({ id, entries, products, hasOrder }: MovedShow): EntriesOfShow {
  return { lsId: id, entries, names: namesOf(products, hasOrder) };
}

async function recountByOrder(
  transaction: Database,
  storeId: string,
  ids: readonly string[],
  attribution: AttributionSettings,
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const known = await lockOrders(transaction, storeId, ids, "existing");
  return attribute(transaction, storeId, { known, orders: [...known.values()], attribution, isAnew: true });
}

/** Goes on with what an ended process has left. @param notify called with the ids of the shows whose figures changed */
export async function recountAll(
  db: RootDatabase,
  notify: (storeId: string, changed: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const stores = await db.$queryRaw<{ id: string }[]>`/* all_stores_recounted */
    SELECT id FROM "Store" WHERE "recountedTo" IS NOT NULL ORDER BY id LIMIT 100`;
  for (const { id } of stores) if (!signal.aborted) notify(id, (await recount(db, id, signal)).changed);
}
