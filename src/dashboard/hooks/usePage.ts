import { useEffect, useLayoutEffect } from "preact/hooks";
import type { Connection } from "../connection/reconnect.js";

/** Sets the title of the page, and reports a token that no longer works. */
export function usePage(title: string, connection: Connection, onTokenEnd: () => void): void {
  const isTokenEnded = connection.phase === "failed" && connection.failure.kind === "unauthenticated";
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (isTokenEnded) onTokenEnd();
  }, [isTokenEnded, onTokenEnd]);
}
