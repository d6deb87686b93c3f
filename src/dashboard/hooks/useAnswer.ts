import { useEffect, useState } from "preact/hooks";
import type { TypedDocumentString } from "../../generated/dashboard/graphql.js";
import { query } from "../connection/api.js";

/**
 * The answer to a query, which is sent again when its variables change. Undefined until it arrives or where it fails: what
 * shows it works without.
 *
 * @param variables undefined while there is nothing to ask for; the last answer then stays
 */
export function useAnswer<Result, Variables>(
  operation: TypedDocumentString<Result, Variables>,
  variables: Variables | undefined,
  token: string,
): Result | undefined {
  const [answer, setAnswer] = useState<Result>();
  useEffect(() => {
    if (variables === undefined) return undefined;
    const leaving = new AbortController();
    query(operation, variables, { token, signal: leaving.signal }).then(setAnswer, () => undefined);
    return () => leaving.abort();
  }, [operation, JSON.stringify(variables), token]);
  return answer;
}
