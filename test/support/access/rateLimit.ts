import { saveLiveStream } from "../../../src/shows/liveStream.save.js";
import { createTestStore, type TestApp, type TestStore } from "../app.js";

/** A store with the show `show`, whose analytics can be read. Making it counts under no limit. */
export async function storeWithShow(app: Pick<TestApp, "url" | "db">): Promise<TestStore> {
  const store = await createTestStore(app);
  const startedAt = new Date("2026-01-01T10:00:00Z");
  await saveLiveStream(app.db, store.id, { id: "show", name: "Show", status: "ENDED", startedAt, durationSeconds: 60 });
  return store;
}

/** Reads by REST, on the app of the store or on another. */
export function readRest(store: TestStore, url?: string, lsId = "show"): Promise<Response> {
  const path = `/external/analytics/v1/live-streams/${lsId}`;
  return url === undefined
    ? store.fetch(path)
    : fetch(url + path, { headers: { "X-Service-Access-Token": store.token } });
}

/** Reads by GraphQL, as often as there are to be aliases. */
export function readGraphQL(store: TestStore, aliases = 1): Promise<Response> {
  const fields = Array.from({ length: aliases }, (_, n) => `a${n}: liveStreamAnalytics(lsId: "show") { id }`);
  return sendGraphQL(store, `{ ${fields.join(" ")} }`);
}

export function sendGraphQL(store: TestStore, query: string): Promise<Response> {
  return store.fetch("/graphql", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
}

/** Whether a read was granted. A machine that is too busy answers it with 503 after a while; it counts all the same. */
export function wasGranted({ status }: Response): boolean {
  return status === 200 || status === 503;
}

/** How many reads were granted and how many refused: `{ granted: 100, refused: 200 }`. Others have a key of their own. */
export function outcomes(responses: readonly Response[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const response of responses) {
    const outcome = wasGranted(response)
      ? "granted"
      : response.status === 429
        ? "refused"
        : `status ${response.status}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** The headers about the rate limit; null where there are none. */
export function limitHeaders({ headers }: Response) {
  return [headers.get("ratelimit-policy"), headers.get("ratelimit"), headers.get("retry-after")];
}

export const noLimitHeaders = [null, null, null];

/** Calls something so many times at once. */
export function atOnce<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}
