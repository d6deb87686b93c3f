import type { Channel } from "../../events/events.input.js";
import type { Family } from "./order.family.js";
import { divide, fromUnits, toUnits } from "../../lib/money.js";

export interface OrderLine {
  readonly productId: string;
  readonly quantity: number;
  /** For all of them together. */
  readonly amount: number;
}

export interface OrderRefund {
  /** Unique within the order. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly amount: number;
  /** If it differs, the amount for orders whose prices include taxes. */
  readonly amountWithTaxes?: number;
  readonly lines: readonly OrderLine[];
  /** Where it may differ, what the lines come to if the prices of the order have their taxes. */
  readonly linesWithTaxes?: readonly number[];
}

/**
 * `isApart` if it was reported by itself: a state that does not list it may be older. `from` is the time of the latest state that listed
 * it, if that names one, because a pending refund may succeed later.
 */
type KnownRefund = OrderRefund & { readonly isApart?: true; readonly from?: number };

/** What a shop says about an order at one time. */
export interface OrderState extends Family {
  readonly kind: "state";
  readonly id: string;
  readonly placedAt: Date;
  /** When the order got this state; undefined for a state that is newer than all earlier ones. */
  readonly changedAt: Date | undefined;
  readonly isPaid: boolean;
  readonly isCancelled: boolean;
  /** Before refunds. */
  readonly amount: number;
  /** After this state's refunds and changes of the order. */
  readonly remaining: number;
  /** Whether prices include taxes. */
  readonly areTaxesIncluded?: boolean;
  /** When the order was restored from the trash. */
  readonly restoredAt?: Date;
  readonly lines: readonly OrderLine[];
  readonly refunds: readonly OrderRefund[];
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
}

/** What a CSV says about an order, which is less than the shop's system knows. */
interface OrderOfFile {
  readonly kind: "file";
  readonly id: string;
  readonly placedAt: Date;
  /** Cancelled or fully refunded: nothing of it is left. */
  readonly isGone: boolean;
  readonly amount: number;
  /** Everything ever refunded. */
  readonly refunded: number;
  readonly lines: readonly OrderLine[];
  readonly viewerId: string | null;
  /** The file has no ids, so that a number or a name serves as one. */
  readonly isByNumber?: boolean;
}

/** What is reported about an order. Refunds and deletions come without its state. */
export type OrderNews =
  | OrderState
  | OrderOfFile
  | { readonly kind: "refund"; readonly id: string; readonly refund: OrderRefund }
  | { readonly kind: "deletion"; readonly id: string; readonly at: Date };

interface NewestState {
  /** Milliseconds since 1970. */
  readonly changedAt: number;
  readonly isPaid: boolean;
  readonly isCancelled: boolean;
  readonly amount: number;
  readonly remaining: number;
  readonly areTaxesIncluded: boolean;
  /** A state that names its time may leave them out: see `lined`. */
  readonly lines: readonly OrderLine[];
  readonly isTimed: boolean;
  /** The ids of the refunds that `remaining` excludes. */
  readonly listed: readonly string[];
  /** From a CSV: any other state is newer and replaces it. */
  readonly isOfFile?: true;
  /** From a CSV without ids; files/numberedOrders.ts searches for it. */
  readonly isByNumber?: true;
}

/** What is known about an order's money: ShopOrder.state as JSON. */
export interface KnownMoney extends PlacedFrom, Family {
  /** The most that was ever paid. */
  readonly gross: number;
  readonly newest: NewestState | null;
  /** Refunds that the newest state lists, refunds reported by themselves, and those of a shop's other states, which do not count. */
  readonly refunds: readonly KnownRefund[];
  /** The newest state with lines. A later one with the same amount and no lines keeps these. */
  readonly lined?: Pick<NewestState, "changedAt" | "amount" | "lines">;
  readonly deletedAt?: number;
  readonly restoredAt?: number;
  /** What files reported. */
  readonly ofFiles?: Pick<OrderOfFile, "isGone" | "refunded" | "lines">;
}

export interface KnownOrder {
  readonly id: string;
  readonly placedAt: Date;
  readonly isPaid: boolean;
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
  readonly money: KnownMoney;
}

const nothing: KnownMoney = { gross: 0, newest: null, refunds: [] };

/**
 * What is known about an order after news of it. News may come twice and in any order: the result is the same.
 *
 * - A state replaces an older one. A state without a time, such as one of recordOrders, is newer than all earlier ones. Of two states of
 *   the same time, the one that can only be later counts.
 * - An order counts from its first paid state on. Its gross amount is the most that was ever paid, and never falls. Whatever a newer state
 *   no longer includes is refunded: by refunds that it lists, by a reduction or by a cancellation.
 * - A refund that was reported by itself counts in addition to the newest state until that lists it.
 * - A state without lines keeps those of an earlier one with the same amount, if both name their times.
 * - A deletion refunds what is left. A restoration received later, or a state that changed later, ends it.
 * - A file (CSV) creates an order if no state is known. Otherwise it adds a missing viewer and missing lines. Its refunded amount is a
 *   total, and nothing is left of what it says is cancelled; it never undoes a refund. A state replaces its amount and its time.
 * - A part of another order counts for nothing (order.family.ts).
 *
 * `counted` below says what of this counts; docs/orders.md has it as a table.
 */
export function merge(known: KnownOrder | undefined, news: OrderNews): KnownOrder {
  switch (news.kind) {
    case "refund":
      return mergeRefund(known, news);
    case "deletion":
      return mergeDeletion(known, news);
    case "file":
      return mergeFile(known, news);
    default:
      return mergeState(known, news);
  }
}

/** A state replaces the amount and the time of files, which may be wrong. */
function mergeState(known: KnownOrder | undefined, news: OrderState): KnownOrder {
  const { money = nothing, isPaid = false } = known ?? {};
  const isOfFile = money.newest?.isOfFile === true;
  const [last, gross] = isOfFile ? [null, 0] : [money.newest, money.gross];
  const newest = newestOf(last, news);
  const isNewer = newest !== last;
  const { changedAt } = news;
  const isListed = ({ id }: KnownRefund) => newest.listed.includes(id);
  const sent = news.refunds.map((refund) => ({ ...refund, ...(changedAt && { from: changedAt.getTime() }) }));
  const refunds = unite(
    money.refunds,
    sent,
    (refund, before) => isNewer || (!isListed(refund) && (refund.from ?? 0) > (before.from ?? 0)),
  );
  const { from, ...placed } = placedBy(known, news, (changedAt ?? new Date(newest.changedAt)).getTime(), !changedAt);
  return {
    ...placed,
    id: news.id,
    placedAt: isNewer || known === undefined ? news.placedAt : placedAtOf(known, news, newest),
    isPaid: news.isPaid || (isPaid && !isOfFile),
    money: {
      ...money,
      ...from,
      ...restoredBy(money, news),
      ...linedBy(money, news, newest),
      gross: news.isPaid ? Math.max(gross, news.amount) : gross,
      newest,
      refunds: refunds.filter((refund) => refund.isApart === true || refund.from !== undefined || isListed(refund)),
    },
  };
}

/** The time in the newest state; of equally new states, the latest time. */
function placedAtOf({ placedAt }: KnownOrder, news: OrderState, newest: NewestState): Date {
  return news.placedAt > placedAt && compareTexts(newest, newestState(news)) === 0 ? news.placedAt : placedAt;
}

function linedBy(
  { lined }: KnownMoney,
  { changedAt, amount, lines }: OrderState,
  newest: NewestState,
): Pick<KnownMoney, "lined"> {
  if (lines.length === 0) return {};
  const sent = { changedAt: changedAt?.getTime() ?? newest.changedAt, amount, lines };
  const isNewer = lined === undefined || (sent.changedAt - lined.changedAt || compareTexts(lined, sent)) > 0;
  return isNewer ? { lined: sent } : {};
}

function restoredBy({ restoredAt = 0 }: KnownMoney, news: OrderState): Pick<KnownMoney, "restoredAt"> {
  const latest = Math.max(restoredAt, news.restoredAt?.getTime() ?? 0);
  return latest > 0 ? { restoredAt: latest } : {};
}

/** The newer one of two states. */
function newestOf(known: NewestState | null, news: OrderState): NewestState {
  const state = newestState(news);
  if (news.changedAt === undefined) return { ...state, changedAt: changeOf(state, known) };
  return known === null || compare(state, known) > 0 ? state : known;
}

function newestState({ changedAt, isPaid, isCancelled, amount, remaining, lines, ...state }: OrderState): NewestState {
  const { areTaxesIncluded = false, refunds } = state;
  const listed = refunds.map(({ id }) => id);
  const time = changedAt?.getTime() ?? 0;
  const isTimed = changedAt !== undefined;
  return { changedAt: time, isPaid, isCancelled, amount, remaining, areTaxesIncluded, lines, isTimed, listed };
}

/** A file creates an unknown order. A known one it only completes, and it never undoes a refund. */
function mergeFile(known: KnownOrder | undefined, file: OrderOfFile): KnownOrder {
  const { money = nothing } = known ?? {};
  const earlier = money.ofFiles ?? { isGone: false, refunded: 0, lines: [] };
  const ofFiles = {
    isGone: earlier.isGone || file.isGone,
    refunded: Math.max(earlier.refunded, file.refunded),
    lines: earlier.lines.length > 0 ? earlier.lines : file.lines,
  };
  if (known !== undefined && money.newest !== null)
    return { ...known, viewerId: known.viewerId ?? file.viewerId, money: { ...money, ofFiles } };
  const { id, placedAt, amount, viewerId } = file;
  const newest: NewestState = {
    changedAt: 0,
    isPaid: true,
    isCancelled: false,
    amount,
    remaining: amount,
    areTaxesIncluded: false,
    lines: [],
    isTimed: false,
    listed: [],
    isOfFile: true,
    ...(file.isByNumber === true && { isByNumber: true }),
  };
  const order = known ?? unknownOrder(id, placedAt.getTime());
  const completed = { ...order, placedAt, viewerId: order.viewerId ?? viewerId };
  return { ...completed, isPaid: true, money: { ...money, gross: amount, newest, ofFiles } };
}

function mergeRefund(known: KnownOrder | undefined, { id, refund }: { id: string; refund: OrderRefund }): KnownOrder {
  const order = known ?? unknownOrder(id, refund.at);
  // One that was pending may have succeeded since.
  const isMore = (sent: KnownRefund, before: KnownRefund) => before.from === undefined && sent.amount > before.amount;
  const refunds = unite(order.money.refunds, [{ ...refund, isApart: true }], isMore);
  return { ...order, money: { ...order.money, refunds } };
}

function mergeDeletion(known: KnownOrder | undefined, { id, at }: { id: string; at: Date }): KnownOrder {
  const order = known ?? unknownOrder(id, at.getTime());
  return { ...order, money: { ...order.money, deletedAt: Math.max(order.money.deletedAt ?? 0, at.getTime()) } };
}

/** It counts for nothing until a state says that it was paid. */
export function unknownOrder(id: string, at: number): KnownOrder {
  return { id, placedAt: new Date(at), isPaid: false, viewerId: null, lsId: null, channel: null, money: nothing };
}

/** The time of a state that names none: now, unless it was known before. */
function changeOf(state: NewestState, known: NewestState | null): number {
  if (known === null) return Date.now();
  const isSame = JSON.stringify(state) === JSON.stringify({ ...known, changedAt: state.changedAt });
  return isSame ? known.changedAt : Math.max(Date.now(), known.changedAt + 1);
}

/** Orders states of the same second by what can only happen later. */
function compare(a: NewestState, b: NewestState): number {
  return (
    a.changedAt - b.changedAt ||
    Number(a.isPaid) - Number(b.isPaid) ||
    Number(a.isCancelled) - Number(b.isCancelled) ||
    a.listed.length - b.listed.length ||
    a.amount - b.amount || // what an edit has taken away is listed as a refund
    b.remaining - a.remaining ||
    compareTexts(a, b)
  );
}

function unite(
  known: readonly KnownRefund[],
  more: readonly KnownRefund[],
  isLater: (refund: KnownRefund, before: KnownRefund) => boolean,
): KnownRefund[] {
  const byId = new Map(known.map((refund) => [refund.id, refund]));
  for (const refund of more) {
    const before = byId.get(refund.id);
    // Some systems name no time for a refund: the first state that lists it is the nearest.
    const at = Math.min(refund.at, before?.at ?? refund.at);
    const isApart = refund.isApart === true || before?.isApart === true;
    const told = before === undefined || isLater(refund, before) ? refund : before;
    byId.set(refund.id, { ...told, at, ...(isApart && { isApart }) });
  }
  return [...byId.values()].toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/** Who placed an order, and for which show and channel the sender named it. */
interface Placed {
  readonly viewerId: string | null;
  readonly lsId: string | null;
  readonly channel: Channel | null;
}

/** The times of the states that named the viewer and the show. Undefined if a file, an event or nothing named it. */
interface PlacedFrom {
  readonly viewerFrom?: number;
  readonly showFrom?: number;
}

const nowhere: Placed = { viewerId: null, lsId: null, channel: null };

/**
 * The viewer and the show of the latest state that names them, in whatever order states arrive, because a later one may name none. Files
 * and events only complete missing values: any state counts as later.
 *
 * @param from the time of the state; `isLatest` if it comes after all others, whatever their times
 */
function placedBy(
  known: (Placed & { readonly money: PlacedFrom }) | undefined,
  news: Placed,
  from: number,
  isLatest: boolean,
): Placed & { readonly from: PlacedFrom } {
  const { viewerFrom, showFrom } = known?.money ?? {};
  const before = known ?? nowhere;
  const viewer = latestOf({ from: viewerFrom, value: before.viewerId }, { from, value: news.viewerId }, isLatest);
  const show = latestOf({ from: showFrom, value: showOf(before) }, { from, value: showOf(news) }, isLatest);
  return {
    viewerId: viewer.value,
    ...(show.value ?? { lsId: null, channel: null }),
    from: {
      ...(viewer.from !== undefined && { viewerFrom: viewer.from }),
      ...(show.from !== undefined && { showFrom: show.from }),
    },
  };
}

function showOf({ lsId, channel }: Placed) {
  return lsId === null ? null : { lsId, channel };
}

interface Named<Value> {
  readonly from: number | undefined;
  readonly value: Value | null;
}

function latestOf<Value>(known: Named<Value>, news: Named<Value>, isLatest: boolean): Named<Value> {
  if (news.value === null) return known;
  if (known.from === undefined || news.from === undefined || isLatest) return news;
  return (news.from - known.from || compareTexts(news, known)) > 0 ? news : known;
}

/** An arbitrary but fixed order for two of the same time, so that the order of arrival does not matter. */
function compareTexts(a: object, b: object): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** What counts of an order, in units (lib/money.ts). */
export interface CountedOrder {
  readonly gross: number;
  readonly lines: readonly OrderLine[];
  readonly refunds: readonly CountedRefund[];
}

export interface CountedRefund {
  readonly at: number;
  readonly units: number;
  readonly lines: readonly OrderLine[];
}

/**
 * What counts of an order. Sales are everything ever paid; refunds are what was later taken away, also by a change of the order, a
 * cancellation or a deletion.
 */
export function counted(order: Pick<KnownOrder, "isPaid" | "placedAt" | "money">): CountedOrder | undefined {
  const { isPaid, placedAt, money } = order;
  const { newest, ofFiles } = money;
  if (!isPaid || newest === null) return undefined;
  const gross = toUnits(money.gross);
  const refunds = countedRefunds(money, newest, gross);
  const refunded = refunds.reduce((sum, { units }) => sum + units, 0);
  const ofFile = ofFiles === undefined ? 0 : ofFiles.isGone ? gross : Math.min(gross, toUnits(ofFiles.refunded));
  if (ofFile > refunded) refunds.push({ at: placedAt.getTime(), units: ofFile - refunded, lines: [] });
  return { gross, lines: linesOf(money, newest), refunds };
}

function linesOf({ lined, ofFiles }: KnownMoney, { lines, isTimed, amount }: NewestState): readonly OrderLine[] {
  if (lines.length > 0) return lines;
  return isTimed && lined?.amount === amount ? lined.lines : (ofFiles?.lines ?? []);
}

/** The refunds that are known by id, and one for whatever else is no longer left of the order. */
function countedRefunds(money: KnownMoney, newest: NewestState, gross: number) {
  const { deletedAt, restoredAt = 0 } = money;
  const refunds = money.refunds.filter(({ id, isApart }) => isApart === true || newest.listed.includes(id));
  const isDeleted = deletedAt !== undefined && deletedAt >= newest.changedAt && deletedAt > restoredAt;
  const unitsOf = ({ amount, amountWithTaxes = amount }: OrderRefund) =>
    toUnits(newest.areTaxesIncluded ? amountWithTaxes : amount);
  const later = refunds.filter(({ id }) => !newest.listed.includes(id));
  const left = later.reduce((units, refund) => units - unitsOf(refund), toUnits(newest.remaining));
  let rest = newest.isCancelled || isDeleted ? gross : Math.min(gross, Math.max(0, gross - left));
  const counts: CountedRefund[] = [];
  for (const refund of refunds) {
    const units = Math.min(rest, unitsOf(refund));
    if (units === 0) continue;
    counts.push({ at: refund.at, units, lines: scaled(linesOfRefund(refund, newest), units) });
    rest -= units;
  }
  if (rest > 0) counts.push({ at: isDeleted ? deletedAt : newest.changedAt, units: rest, lines: [] });
  return counts;
}

function linesOfRefund(
  { lines, linesWithTaxes }: OrderRefund,
  { areTaxesIncluded }: NewestState,
): readonly OrderLine[] {
  if (!areTaxesIncluded || linesWithTaxes === undefined) return lines;
  return lines.map((line, index) => ({ ...line, amount: linesWithTaxes[index] ?? line.amount }));
}

/** The lines of a refund, scaled so that they add up to it. */
function scaled(lines: readonly OrderLine[], units: number): readonly OrderLine[] {
  const weights = lines.map(({ amount }) => toUnits(amount));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  if (sum === units || sum === 0) return lines;
  const shares = divide(units, weights);
  return lines.map((line, index) => ({ ...line, amount: fromUnits(shares[index] ?? 0) }));
}

/** The part of an order that is left after refunds. */
export function netOf({ gross, refunds }: CountedOrder): number {
  return fromUnits(refunds.reduce((units, refund) => units - refund.units, gross));
}
