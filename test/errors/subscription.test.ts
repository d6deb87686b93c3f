import { expect, onTestFinished, test } from "vitest";
import { createTestStore, startApp, type TestApp, testDatabase } from "../support/app.js";
import { graphqlError } from "../support/problems.js";
import { saved } from "../support/shows.js";
import { subscribe } from "../support/http/subscribe.js";

const secret = "s3cret-of-the-server";
const internal = graphqlError(
  "INTERNAL",
  "Something went wrong on our side. Please give the requestId when you report it.",
);

/** A service some of whose queries fail once they are `broken`, and a show of a store of it. */
async function startBreakable() {
  const state = { broken: "none" as "none" | "all" | "peak" | "one peak" };
  const database = testDatabase();
  const client = new Proxy(database.client, {
    get: (target, name) => {
      const fail = () => Promise.reject(new TypeError(`cannot read ${secret}`));
      if (state.broken === "all" && name !== "accessToken" && name !== "revocation") return fail; // callers are still known
      if (!state.broken.endsWith("peak") || name !== "$queryRaw") return Reflect.get(target, name, target);
      return (sql: TemplateStringsArray, ...values: unknown[]) => {
        if (!sql.join("").includes("AS peak")) return target.$queryRaw(sql, ...values);
        if (state.broken === "one peak") state.broken = "none";
        return fail();
      };
    },
  });
  const app = await startApp({ analyticsRateLimit: 0 }, { ...database, client });
  onTestFinished(() => app.close());
  const store = await createTestStore(app);
  return { app, store, show: await saved(store, { status: "LIVE" }), state };
}

async function startWatching(fields: string) {
  const started = await startBreakable();
  const { app, store, show, state } = started;
  const query = `subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { ${fields} } }`;
  const body = { query, variables: { lsId: show.id } };
  return { app, show, state, store, values: () => subscribe(app, store, body, AbortSignal.timeout(60_000)) };
}

/** The one error of a value: INTERNAL, and the log has it once, under the id that callers are told. */
function expectInternal(value: any, logged: readonly string[]) {
  expect(value.errors).toHaveLength(1);
  const { message, extensions } = value.errors[0];
  expect({ message, extensions }).toEqual({
    ...internal,
    extensions: { ...internal.extensions, requestId: expect.stringMatching(/^[\w-]{20,}$/u) },
  });
  expect(JSON.stringify(value)).not.toContain(secret);
  const lines = logged.filter((line) => line.includes(secret)).map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ msg: "operation failed", requestId: extensions.requestId }]);
}

/** What the line of the last request says, which is written when the request has ended. */
async function expectOutcome({ accessLog }: TestApp, outcome: string): Promise<void> {
  await expect
    .poll(() => JSON.parse(accessLog.at(-1) ?? "{}"))
    .toMatchObject({ route: "/graphql (subscription)", outcome });
}

test("a subscription that cannot begin says INTERNAL with the id of its request, and the log has it", async () => {
  const { app, state, values } = await startWatching("id");
  state.broken = "all";
  const all = [];
  for await (const value of values()) all.push(value);
  expect(all).toHaveLength(1);
  expectInternal(all[0], app.logged);
  await expectOutcome(app, "INTERNAL");
});

test.each(["all", "peak"] as const)("so does a later value, where queries fail: %s", async (broken) => {
  const { app, state, store, show, values } = await startWatching("id peakConcurrentViewers");
  const watching = values();
  const data = { liveStreamAnalytics: { id: show.id, peakConcurrentViewers: 0 } };
  expect((await watching.next()).value).toEqual({ data });
  state.broken = broken;
  app.feed.changed(store.id, show.id);
  expectInternal((await watching.next()).value, app.logged);
  await watching.return(undefined);
  await expectOutcome(app, "INTERNAL");
});

test("a query that fails is sent again for the next subscription that needs its result", async () => {
  const { app, store, show, state } = await startBreakable();
  // Three different operations, whose values are made one in each turn of the event loop.
  const streams = ["id", "name", "status"].map((field) => {
    const query = `subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { ${field} peakConcurrentViewers } }`;
    return subscribe(app, store, { query, variables: { lsId: show.id } }, AbortSignal.timeout(60_000));
  });
  for (const stream of streams) expect((await stream.next()).value.errors).toBeUndefined();
  state.broken = "one peak";
  app.feed.changed(store.id, show.id);
  const [first, second, third] = await Promise.all(streams.map(async (stream) => (await stream.next()).value));
  expect(first.errors).toMatchObject([{ extensions: { code: "INTERNAL" } }]);
  expect(second).toEqual({ data: { liveStreamAnalytics: { name: show.name, peakConcurrentViewers: 0 } } });
  expect(third).toEqual({ data: { liveStreamAnalytics: { status: "LIVE", peakConcurrentViewers: 0 } } });
  for (const stream of streams) await stream.return(undefined);
});
