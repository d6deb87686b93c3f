import { randomBytes } from "node:crypto";
import type { Database } from "../../database/client.js";
import { LockedError } from "../../database/shares/lockWait.js";
import { withRawParameters, textArrayLiteral } from "../../database/rawParameters.js";
import { queryStore } from "../../database/sql/storeStatements.js";
import { reserveNamesWithin, nameLimits, type NamesOfShow, type NewName } from "../../events/record/countedNames.js";
import { nextSlot, type Outcome } from "../../events/record/events.record.js";
import { reversalCodes, typeCodes } from "../../database/codes.js";
import { idArrayLiteral } from "../../events/record/eventValues.sql.js";
import { type EventColumns, eventStatement } from "../../events/record/events.sql.js";
import { unknownName } from "../../events/record/countedNames.sql.js";
import type { OrderLine } from "./order.state.js";
import type { AttributedPart } from "../attribution/attribution.js";

/** An event of an order in a show's ledger: an ORDER or a REFUND, or the reversal of one. */
export interface Entry {
  readonly show: number;
  readonly channel: number;
  readonly type: number;
  readonly orderId: string;
  readonly viewerId: string;
  readonly at: Date;
  readonly amount: number;
  readonly lines: readonly OrderLine[];
}

type CountedPart = Pick<AttributedPart, "show" | "channel" | "amount" | "lines" | "refunds">;

interface OfOrder {
  readonly id: string;
  readonly viewer: string | null;
  readonly placedAt: Date;
}

/**
 * What to add to the ledgers of shows so that an order counts by its new parts instead of the old ones. A part that only got further
 * refunds needs only these; any other changed part is reversed and added again.
 *
 * @param old the order by its old parts
 */
export function entriesOf(
  order: OfOrder,
  old: OfOrder,
  before: readonly CountedPart[],
  now: readonly CountedPart[],
): Entry[] {
  const entries: Entry[] = [];
  const add = (
    of: OfOrder,
    type: number,
    { show, channel }: CountedPart,
    what: Pick<Entry, "at" | "amount" | "lines">,
  ) => entries.push({ show, channel, type, orderId: of.id, viewerId: of.viewer ?? "", ...what });
  const addOrder = (of: OfOrder, type: number, part: CountedPart) =>
    add(of, type, part, { at: of.placedAt, amount: part.amount, lines: part.lines });
  const addRefunds = (of: OfOrder, type: number, part: CountedPart, from = 0) => {
    for (const { at, amount, lines } of part.refunds.slice(from))
      add(of, type, part, { at: new Date(at), amount, lines });
  };
  const isMoved = old.placedAt.getTime() !== order.placedAt.getTime() || old.viewer !== order.viewer;
  const kept = new Set<CountedPart>();
  for (const part of before) {
    const same = isMoved ? undefined : now.find((other) => !kept.has(other) && isContinued(part, other));
    if (same !== undefined) {
      kept.add(same);
      if (part.show !== 0) addRefunds(order, typeCodes.REFUND, same, part.refunds.length);
    } else if (part.show !== 0) {
      addOrder(old, reversalCodes.ORDER, part);
      addRefunds(old, reversalCodes.REFUND, part);
    }
  }
  for (const part of now) {
    if (kept.has(part) || part.show === 0) continue;
    addOrder(order, typeCodes.ORDER, part);
    addRefunds(order, typeCodes.REFUND, part);
  }
  return entries;
}

/** Whether a part equals the earlier one, perhaps with further refunds. */
function isContinued(part: CountedPart, other: CountedPart): boolean {
  return (
    part.show === other.show &&
    part.channel === other.channel &&
    part.amount === other.amount &&
    JSON.stringify(part.lines) === JSON.stringify(other.lines) &&
    JSON.stringify(part.refunds) === JSON.stringify(other.refunds.slice(0, part.refunds.length))
  );
}

interface LedgerShow {
  readonly number: number;
  readonly id: string;
}

/** Adds entries as recordColumns does. @param shows the shows of the entries */
export async function recordEntries(
  transaction: Database,
  storeId: string,
  entries: readonly Entry[],
  shows: readonly LedgerShow[],
): Promise<void> {
  const parts = shows.map(({ id, number }) => ({ id, entries: entries.filter(({ show }) => show === number) }));
  const ofShows = parts.map(({ id, entries: own }) => {
    const products = new Set(own.flatMap(({ lines }) => lines.map(({ productId }) => productId)));
    const hasOrder = own.some(({ type }) => type === typeCodes.ORDER || type === reversalCodes.ORDER);
    return { lsId: id, names: namesOf(products, hasOrder), entries: own.length };
  });
  await withRawParameters((bind) =>
    recordColumns(
      transaction,
      storeId,
      ofShows,
      columnsOf(
        parts.map((part) => part.entries),
        bind,
      ),
    ),
  );
}

/** How many entries a show has, and their names. */
interface EntriesOfShow extends NamesOfShow {
  readonly entries: number;
}

/**
 * Adds entries to the ledgers and the totals of their shows, within the transaction in which the orders' parts change.
 *
 * @param shows in the order of the entries' places
 * @param columns of the entries, whose ids are random
 * @throws {LockedError} if the totals of a show are being rebuilt or pruned
 */
async function recordColumns(
  transaction: Database,
  storeId: string,
  shows: readonly EntriesOfShow[],
  columns: EventColumns,
): Promise<void> {
  const areKept = await reserveNamesWithin(transaction, storeId, shows, nameLimits);
  let offset = 0;
  const batchShows = shows.map(({ lsId, entries }) => {
    const of = { lsId, earliest: null, createdAt: undefined, offset };
    offset += entries;
    return of;
  });
  const statement = eventStatement({
    storeId,
    shows: batchShows,
    slot: nextSlot(),
    now: new Date(),
    hasOthers: !areKept,
    hasOrders: false,
    hasLate: false,
    refusedBy: [],
    kind: "entries",
    duplicates: "unexpected",
    columns,
  });
  const outcomes = await queryStore<Outcome>(transaction, storeId, statement, ["createdAt"]);
  if (outcomes.some(({ hasLock }) => !hasLock)) throw new LockedError();
}

/** The names that a show counts for its entries: their products, and the source "unknown" if there is an ORDER, which names none. */
function namesOf(products: Iterable<string>, hasOrder: boolean): NewName[] {
  return [
    ...(hasOrder ? [{ kind: "SOURCE", name: unknownName } as const] : []),
    ...[...products].toSorted().map((name) => ({ kind: "PRODUCT", name }) as const),
  ];
}

function columnsOf(entriesOfShows: readonly (readonly Entry[])[], bind: (column: string) => string): EventColumns {
  const entries = entriesOfShows.flat();
  const plain = (value: (entry: Entry) => string | number) => bind(`{${entries.map(value).join(",")}}`);
  return {
    count: entries.length,
    place:
      entriesOfShows.length === 1
        ? "{}"
        : bind(`{${entriesOfShows.flatMap((own, index) => own.map(() => index + 1)).join(",")}}`),
    id: plain(() => `"\\\\x${entryId()}"`),
    type: plain(({ type }) => type),
    channel: plain(({ channel }) => channel),
    viewerId: bind(idArrayLiteral(entries.map(({ viewerId }) => viewerId))),
    device: "{}",
    source: "{}",
    value: plain(({ amount }) => amount),
    orderId: bind(textArrayLiteral(entries.map(({ orderId }) => orderId))),
    lines: bind(textArrayLiteral(entries.map(({ lines }) => (lines.length === 0 ? "" : JSON.stringify(lines))))),
    productId: "{}",
    occurredAt: plain(({ at }) => `"${at.toISOString()}"`),
  };
}

/** The id of an entry, in hexadecimal. It begins with a NUL and has 33 bytes, so that it never equals an id that was sent. */
function entryId(): string {
  return `00${randomBytes(32).toString("hex")}`;
}
