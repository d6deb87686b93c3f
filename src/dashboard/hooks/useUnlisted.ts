import { useEffect, useState } from "preact/hooks";
import { query } from "../api.js";
import { type ShowSummary, showTimesQuery } from "../operations.js";
import type { ShowList } from "../showList.js";

/** The selected show, if it is not in the loaded part of the list. */
export function useUnlisted(token: string, lsId: string | undefined, list: ShowList | undefined) {
  const [show, setShow] = useState<ShowSummary>();
  const isMissing = lsId !== undefined && list !== undefined && !list.shows.some(({ id }) => id === lsId);
  useEffect(() => {
    if (!isMissing) return undefined;
    const leaving = new AbortController();
    const found = ({ liveStream }: { liveStream: ShowSummary | null }) => setShow(liveStream ?? undefined);
    query(showTimesQuery, { lsId }, { token, signal: leaving.signal }).then(found, () => undefined); // Show says why
    return () => leaving.abort();
  }, [token, lsId, isMissing]);
  return isMissing && show?.id === lsId ? show : undefined;
}
