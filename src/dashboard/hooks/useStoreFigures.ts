import { query } from "../api.js";
import { asFailure } from "../failure.js";
import { storeFiguresQuery } from "../operations.js";
import { boundsOf, type Range } from "../overview/range.js";
import { usePolled } from "./usePolled.js";

/** The figures of a range, which ends now or with its last day. */
export function useStoreFigures(token: string, range: Range) {
  return usePolled(
    async (signal) => {
      const bounds = boundsOf(range);
      const { storeAnalytics } = await query(storeFiguresQuery, bounds, { token, signal });
      if (storeAnalytics === null) throw asFailure(undefined); // the query has thrown the error that says why
      return { figures: storeAnalytics, bucket: bounds.bucket };
    },
    JSON.stringify([token, range]),
  );
}
