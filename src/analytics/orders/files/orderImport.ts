import type { RootDatabase } from "../../../database/client.js";
import { AppError } from "../../../errors.js";
import { statesOf } from "../order.input.js";
import { recordNews } from "../order.record.js";
import { type FileOrder, readOrderFile } from "./orderFile.js";

const batchOrders = 500;

export interface OrderImport {
  readonly accepted: number;
  readonly duplicates: number;
  /** Orders of the file that were not paid. */
  readonly unpaid: number;
  readonly changed: readonly string[];
}

/**
 * Records the orders of a file, in batches. All of it is read before anything is stored, so that a line that cannot be read stores
 * nothing; if it is interrupted, another call does the rest.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line
 */
export async function importOrders(db: RootDatabase, storeId: string, path: string): Promise<OrderImport> {
  for await (const batch of batchesOf(path))
    await atLines(batch, () =>
      statesOf(
        db,
        storeId,
        batch.map(({ order }) => order),
      ),
    );
  const changed = new Set<string>();
  let [accepted, duplicates, unpaid] = [0, 0, 0];
  for await (const batch of batchesOf(path, () => (unpaid += 1))) {
    const states = await atLines(batch, () =>
      statesOf(
        db,
        storeId,
        batch.map(({ order }) => order),
      ),
    );
    const receipt = await recordNews(db, storeId, states);
    accepted += receipt.accepted;
    duplicates += receipt.duplicates;
    for (const lsId of receipt.changed) changed.add(lsId);
  }
  return { accepted, duplicates, unpaid, changed: [...changed] };
}

async function* batchesOf(path: string, onUnpaid: () => void = () => undefined): AsyncGenerator<FileOrder[], void> {
  let batch: FileOrder[] = [];
  for await (const order of readOrderFile(path)) {
    if (!order.counts) {
      onUnpaid();
      continue;
    }
    batch.push(order);
    if (batch.length < batchOrders) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
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
