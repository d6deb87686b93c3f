import { type FileHandle, open } from "node:fs/promises";
import { currencyOf } from "../../stores/store.currency.js";
import { timeZoneOf } from "../../stores/store.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { refusePacked } from "../../files/encoding/fileKinds.js";
import { AppError } from "../../errors.js";
import { openCsv } from "./csvOrders.js";
import { type FileOrder, newsOf } from "./readOrder.js";
import { openJson } from "./jsonOrders.js";
import { hasNumberedOrders, requireIds, requireOneId } from "./numberedOrders.js";

export interface OrderFile {
  /** All orders, in the order of the file and in constant memory. Can be called again. */
  read(): AsyncGenerator<FileOrder, void>;
}

/**
 * Works with the orders of a file, after reading and checking all of it: a JSON object on each line, as recordOrders takes it or as the
 * REST API of Shopify or WooCommerce lists it, or the CSV export of one of these.
 *
 * @throws {AppError} VALIDATION_FAILED naming the line, or BAD_REQUEST for a file that is no text
 */
export async function withOrderFile<Result>(
  db: RootDatabase,
  storeId: string,
  path: string,
  work: (file: OrderFile) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path);
  try {
    const file = await openFile(db, storeId, handle);
    const hasNumbered = await hasNumberedOrders(db, storeId);
    for await (const batch of batchesOf(file)) {
      await newsOf(db, storeId, batch);
      if (hasNumbered) await requireOneId(db, storeId, batch);
    }
    return await work(file);
  } finally {
    await handle.close();
  }
}

async function openFile(db: Database, storeId: string, handle: FileHandle): Promise<OrderFile> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1_024), 0, 1_024, 0);
  refusePacked(buffer.subarray(0, bytesRead), "CSV or NDJSON");
  const start = buffer.toString("utf8", 0, bytesRead).replace(/^\uFEFF?\s*/u, "");
  const currency = await currencyOf(db, storeId, true);
  if (start.startsWith("{")) return openJson(handle, currency);
  if (start.startsWith("[")) {
    throw new AppError(
      "VALIDATION_FAILED",
      "Line 1: A JSON list cannot be read: write one order on each line, as NDJSON.",
    );
  }
  const csv = await openCsv(handle, { currency, timeZone: await timeZoneOf(db, storeId) });
  if (csv.isByNumber) await requireIds(db, storeId);
  return csv;
}

const batchOrders = 500;

/** The orders of a file in batches for one statement. */
export async function* batchesOf(file: OrderFile): AsyncGenerator<readonly FileOrder[], void> {
  let batch: FileOrder[] = [];
  for await (const order of file.read()) {
    batch.push(order);
    if (batch.length < batchOrders) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
