import { expect, test } from "vitest";
import { revokeToken } from "../../../src/stores/token.replace.js";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, openTestApp, startApp, type TestStore } from "../../support/app.js";
import { record, saved } from "../../support/shows.js";

// The multipart protocol for subscriptions, of Apollo Client: parts of JSON, each `{"payload": result}` or, as a heartbeat, `{}`.

const app = await openTestApp({ analyticsRateLimit: 0 });
const store = await createTestStore(app);

const ofClient3 = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";
const ofClient4 =
  "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9";
const watch = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";

function ask(
  caller: Pick<TestStore, "fetch">,
  { accept = ofClient4, body, signal = null }: { accept?: string; body: object; signal?: AbortSignal | null },
) {
  const headers = { "content-type": "application/json", accept };
  return caller.fetch("/graphql", { method: "POST", headers, body: JSON.stringify(body), signal });
}

const part = (value: unknown) => `\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(value)}\r\n--graphql`;
const value = (total: number) => part({ payload: { data: { liveStreamAnalytics: { kpis: { orders: { total } } } } } });
const opening = `\r\n--graphql${part({})}`;

/** What arrives until the text ends as given. */
function reading(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async (end: string) => {
    while (!text.endsWith(end)) {
      const { done, value: more = "" } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`The stream ended: ${text}`);
      text += more;
    }
    return text;
  };
}

test.each([ofClient3, ofClient4, 'Multipart/Mixed; subscriptionSpec="1.0"'])(
  "values arrive as complete parts as soon as they change, for Accept: %s",
  async (accept) => {
    const { id: lsId } = await saved(store, { status: "LIVE" });
    const leaving = new AbortController();
    const response = await ask(store, { accept, body: { query: watch, variables: { lsId } }, signal: leaving.signal });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    const readTo = reading(response);
    expect(await readTo(value(0))).toBe(opening + value(0));
    await store.graphql(record, {
      lsId,
      events: [{ id: crypto.randomUUID(), type: "ORDER", channel: "LIVE", amount: 1 }],
    });
    expect(await readTo(value(1))).toBe(opening + value(0) + value(1));
    leaving.abort();
    await expect.poll(() => app.feed.watchers).toBe(0);
  },
);

test("the stream ends with the error and the closing delimiter when its token is revoked", async () => {
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const { id, token } = await issueToken(app.db, store.id);
  const response = await fetch(`${app.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: ofClient4, "x-service-access-token": token },
    body: JSON.stringify({ query: watch, variables: { lsId } }),
  });
  const readTo = reading(response);
  await readTo(value(0));
  await revokeToken(app.db, store.id, id);
  const text = await readTo("--graphql--\r\n");
  const last = JSON.parse(text.split("\r\n--graphql").at(-2)?.split("\r\n\r\n")[1] ?? "");
  expect(last.payload.errors[0].extensions.code).toBe("UNAUTHENTICATED");
});

test("a subscription that is refused is answered with its errors, and with the status of a rate limit", async () => {
  const response = await ask(store, { body: { query: watch, variables: { lsId: "none" } } });
  expect(response.status).toBe(200);
  const [, , body = ""] = (await response.text()).split("\r\n--graphql");
  expect(JSON.parse(body.split("\r\n\r\n")[1] ?? "").payload.errors[0].extensions.code).toBe("LIVE_STREAM_NOT_FOUND");

  const limited = await startApp({ subscriptionRateLimit: 1 });
  const caller = await createTestStore(limited);
  const { id: lsId } = await saved(caller, { status: "LIVE" });
  const leaving = new AbortController();
  const first = await ask(caller, { body: { query: watch, variables: { lsId } }, signal: leaving.signal });
  const second = await ask(caller, { body: { query: watch, variables: { lsId } } });
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(second.headers.get("retry-after")).toMatch(/^\d+$/u);
  expect(await second.text()).toMatch(/"RATE_LIMITED".*\r\n--graphql--\r\n$/su);
  leaving.abort();
  await limited.close();
});

test("with the same Accept, queries and invalid subscriptions are answered as JSON", async () => {
  for (const query of ["{ __typename }", "subscription { nothing }"]) {
    const response = await ask(store, { body: { query } });
    expect(response.headers.get("content-type")).toMatch(/^application\/(?:graphql-response\+)?json/u);
    expect(await response.json()).toEqual(
      query.startsWith("{") ? { data: { __typename: "Query" } } : { errors: [expect.any(Object)] },
    );
  }
});
