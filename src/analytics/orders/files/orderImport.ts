import type { RootDatabase } from "../../../database/client.js";
import { AppError } from "../../../errors.js";
import { statesOf } from "../order.input.js";
import { recordNews, recordNewsOfKnown } from "../order.record.js";
import type { OrderNews, OrderOfFile, OrderState } from "../order.state.js";
import { compareOrders, type Difference } from "./differences.js";
import { requireOneId } from "./numberedOrders.js";
import { type FileOrder, isPaid } from "./fileOrder.js";
import { batchesOf, withOrderFile } from "./orderFile.js";
import { StatusCounts } from "./cells/status.js";

const differencesMax = 10;

export interface OrderImport {
  readonly accepted: number;
  readonly duplicates: number;
  /** Orders of the file that were not paid. */
  readonly unpaid: number;
  /** Their statuses. */
  readonly statuses: readonly { readonly status: string; readonly orders: number }[];
  /** Orders of a CSV that are known with another amount or state, and keep it. */
  readonly different: number;
  /** The first 10 of these. */
  readonly differences: readonly Omit<Difference, "kind">[];
  /** The ids of the shows whose figures changed. */
  readonly changed: readonly string[];
}

/**
 * Records the orders of a file, in batches. All of it is read before anything is stored, so that a line that cannot be read stores
 * nothing; if it is interrupted, another call does the rest.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export function importOrders(db: RootDatabase, storeId: string, path: string): Promise<OrderImport> {
  return withOrderFile(db, storeId, path, async (file) => {
    for await (const batch of batchesOf(file)) {
      await newsOf(db, storeId, batch);
      await requireOneId(db, storeId, batch);
    }
    const result = new ImportResult();
    for await (const batch of batchesOf(file)) await recordBatch(db, storeId, batch, result);
    return result.sum;
  });
}

class ImportResult {
  readonly #changed = new Set<string>();
  readonly #statuses = new StatusCounts();
  readonly #differences: Omit<Difference, "kind">[] = [];
  #different = 0;
  #accepted = 0;
  #duplicates = 0;

  get sum(): OrderImport {
    return {
      accepted: this.#accepted,
      duplicates: this.#duplicates,
      unpaid: this.#statuses.total,
      statuses: this.#statuses.list,
      different: this.#different,
      differences: this.#differences,
      changed: [...this.#changed],
    };
  }

  add({ accepted, duplicates, changed }: { accepted: number; duplicates: number; changed: readonly string[] }): void {
    this.#accepted += accepted;
    this.#duplicates += duplicates;
    for (const lsId of changed) this.#changed.add(lsId);
  }

  addUnpaid({ csv }: FileOrder): void {
    if (csv !== undefined) this.#statuses.add(csv.status);
  }

  addDifference({ id, line, message }: Difference): void {
    this.#different += 1;
    if (this.#differences.length < differencesMax) this.#differences.push({ id, line, message });
  }
}

async function recordBatch(
  db: RootDatabase,
  storeId: string,
  batch: readonly FileOrder[],
  result: ImportResult,
): Promise<void> {
  const { paid, gone } = await newsOf(db, storeId, batch);
  result.add(await recordNews(db, storeId, paid));
  const { accepted, changed } = await recordNewsOfKnown(db, storeId, gone);
  result.add({ accepted, duplicates: 0, changed });
  for (const item of batch) if (!isPaid(item)) result.addUnpaid(item);
  const ofCsv = batch.filter(({ csv }) => csv !== undefined);
  for (const difference of await compareOrders(db, storeId, ofCsv)) {
    if (difference !== undefined) result.addDifference(difference);
  }
}

interface NewsOfFile {
  readonly paid: readonly OrderNews[];
  /** Of orders that were not paid, of which nothing is left: they change those that are known, and make none. */
  readonly gone: readonly OrderNews[];
}

async function newsOf(db: RootDatabase, storeId: string, batch: readonly FileOrder[]): Promise<NewsOfFile> {
  const used = batch.filter((item) => isPaid(item) || item.csv?.isGone === true);
  const states = await atLines(used, () =>
    statesOf(
      db,
      storeId,
      used.map(({ order }) => order),
    ),
  );
  const news = used.map((item, index) => ({ isPaid: isPaid(item), news: newsOfOrder(item, states[index]) }));
  const ofKind = (isOfKind: boolean) => news.filter((item) => item.isPaid === isOfKind).flatMap((item) => item.news);
  return { paid: ofKind(true), gone: ofKind(false) };
}

/** What a CSV says of an order is less than its state. */
function newsOfOrder({ csv }: FileOrder, state: OrderState | undefined): OrderNews[] {
  if (state === undefined) return [];
  if (csv === undefined) return [state];
  const { id, placedAt, amount, lines, viewerId } = state;
  const { isGone, refunded, isByNumber } = csv;
  const ofFile: OrderOfFile = { kind: "file", id, placedAt, amount, lines, viewerId, isGone, refunded, isByNumber };
  return [ofFile];
}

/** Names the line of the file instead of the position in the batch. */
async function atLines<Result>(batch: readonly FileOrder[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problems = error.problems.map(({ path: [list, index, ...rest], ...problem }) => {
      const line = list === "orders" && typeof index === "number" ? batch[index]?.line : undefined;
      return line === undefined ? { ...problem, path: rest } : { ...problem, path: rest, line };
    });
    const [first] = problems;
    const where = first?.line === undefined ? "" : `Line ${first.line}: `;
    throw new AppError(error.code, `${where}${first?.message ?? error.message}`, { problems });
  }
}
