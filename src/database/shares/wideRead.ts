import type { RootDatabase } from "../client.js";
import { sharesOf } from "./shares.js";

/**
 * Runs a read that takes many rows together. Such reads of all stores together take at most a quarter of the connections, those
 * of one store at most half of these. It must not be begun within a transaction.
 *
 * @param signal aborted when the caller has gone: then a turn is no longer waited for
 * @throws {AppError} UNAVAILABLE after waiting for 5 seconds in vain, or what the read throws
 */
export async function asWideRead<Result>(
  db: RootDatabase,
  storeId: string,
  read: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const shares = sharesOf(db);
  return shares === undefined ? read() : shares.wideReads.run(storeId, read, signal);
}
