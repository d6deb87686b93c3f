import type { RootDatabase } from "../../database/client.js";
import { recordNews, recordNewsOfKnown } from "../state/order.record.js";
import { compareOrders, type Difference } from "./differences.js";
import { type FileOrder, isPaid, newsOf, statusOf } from "./readOrder.js";
import { batchesOf, withOrderFile } from "./openOrderFile.js";
import { StatusCounts } from "./cells/status.js";

const differencesMax = 10;

export interface OrderImport {
  readonly accepted: number;
  readonly duplicates: number;
  /** Orders of the file that were not paid. */
  readonly unpaid: number;
  /** Their statuses. */
  readonly statuses: readonly { readonly status: string; readonly orders: number }[];
  /** Orders of a CSV that keep another known amount or state. */
  readonly different: number;
  /** The first 10 of these. */
  readonly differences: readonly Omit<Difference, "kind">[];
  /** Why members of orders that do not affect money were not used. */
  readonly faults?: readonly { readonly reason: string; readonly orders: number }[];
  /** The ids of the shows whose figures changed. */
  readonly changed: readonly string[];
}

/**
 * Records the orders of a file in batches. It checks the whole file before it stores anything, so that an unreadable line stores
 * nothing. If it is interrupted, another call does the rest.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export function importOrders(db: RootDatabase, storeId: string, path: string): Promise<OrderImport> {
  return withOrderFile(db, storeId, path, async (file) => {
    const result = new ImportResult();
    for await (const batch of batchesOf(file)) await recordBatch(db, storeId, batch, result);
    return result.sum;
  });
}

class ImportResult {
  readonly #changed = new Set<string>();
  readonly #statuses = new StatusCounts();
  readonly #differences: Omit<Difference, "kind">[] = [];
  readonly #faults = new Map<string, number>();
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
      ...(this.#faults.size > 0 && { faults: [...this.#faults].map(([reason, orders]) => ({ reason, orders })) }),
      changed: [...this.#changed],
    };
  }

  add({ accepted, duplicates, changed }: { accepted: number; duplicates: number; changed: readonly string[] }): void {
    this.#accepted += accepted;
    this.#duplicates += duplicates;
    for (const lsId of changed) this.#changed.add(lsId);
  }

  note(item: FileOrder): void {
    if (!isPaid(item)) this.#statuses.add(statusOf(item));
    for (const fault of new Set(item.faults)) this.#faults.set(fault, (this.#faults.get(fault) ?? 0) + 1);
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
  const news = await newsOf(db, storeId, batch);
  const newsWhere = (is: (item: FileOrder) => boolean) =>
    batch.flatMap((item) => (is(item) ? (news.get(item) ?? []) : []));
  result.add(await recordNews(db, storeId, newsWhere(isPaid)));
  // Unpaid states are kept, because later ones may follow. In a CSV they create no order.
  const unpaid = newsWhere((item) => item.shop !== undefined && !isPaid(item));
  const { changed: shows } = await recordNews(db, storeId, unpaid);
  const gone = newsWhere((item) => item.csv !== undefined && !isPaid(item));
  const { accepted, changed } = await recordNewsOfKnown(db, storeId, gone);
  result.add({ accepted, duplicates: 0, changed: [...shows, ...changed] });
  for (const item of batch) result.note(item);
  const ofCsv = batch.filter(({ csv }) => csv !== undefined);
  for (const difference of await compareOrders(db, storeId, ofCsv, news)) {
    if (difference !== undefined) result.addDifference(difference);
  }
}
