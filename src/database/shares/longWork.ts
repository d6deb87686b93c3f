import type { RootDatabase } from "../client.js";
import { sharesOf } from "./shares.js";

/**
 * Runs work that holds a connection for seconds or longer, once it has a turn. Such work of all stores together takes at most
 * half of the connections, that of one store at most half of these. It must not be begun within a transaction.
 *
 * @param signal aborted when the caller has gone: then a turn is no longer waited for
 * @throws {AppError} UNAVAILABLE after waiting for 10 seconds in vain, or what the work throws
 */
export async function asLongWork<Result>(
  db: RootDatabase,
  storeId: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const shares = sharesOf(db);
  return shares === undefined ? work() : shares.longWork.run(storeId, work, signal);
}
