import { buildSchema, type GraphQLObjectType } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import { expect, test } from "vitest";
import { serverSentEvents } from "../../../src/api/graphql/streamFormat.js";
import { KnownOperations } from "../../../src/api/execution/operationCache.js";
import { createKnownSubscriptions } from "../../../src/api/graphql/subscription.js";
import { scopes } from "../../../src/schema/scopes.js";
import { ResponseBudget } from "../../../src/schema/limits/responseBudget.js";
import type { Context } from "../../../src/schema/context.js";

/** Subscriptions of a schema of their own, whose values are made when `release` is called. */
function blockedSubscriptions(waitMs: number) {
  const schema = buildSchema(`type Query { unused: Int } type Subscription { tick(name: String): String }`);
  const tick = (schema.getSubscriptionType() as GraphQLObjectType).getFields()["tick"];
  const started: string[] = [];
  const change = {}; // of the show, which all subscribers get
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  Object.assign(tick ?? {}, {
    subscribe: async function* () {
      yield change;
    },
    resolve: async (_: unknown, { name }: { name: string }) => {
      started.push(name);
      await released;
      return name;
    },
  });
  const known = createKnownSubscriptions(schema, new KnownOperations(schema), waitMs);
  const next = async (name: string, storeId: string, granted: readonly string[] = scopes) => {
    const observation = { begins: () => undefined, refused: () => undefined };
    const context = {
      identity: { storeId, scopes: new Set(granted) },
      observation,
      limits: { response: new ResponseBudget() },
      sent: { isRest: false },
      requestId: "test",
    };
    // These subscriptions need nothing else of a context.
    const subscription = known.find(`subscription { tick(name: "${name}") }`, undefined);
    const values = await subscription?.start({}, context as unknown as Context);
    if (!isAsyncIterable<any>(values)) throw new Error(JSON.stringify(values));
    return JSON.parse(/\{.*\}/u.exec(String((await values.next()).value.framed(serverSentEvents)))?.[0] ?? "");
  };
  return { next, release, started };
}

const tick = (name: string) => ({ data: { tick: name } });

test("a value that waits too long for others of its store is refused with UNAVAILABLE and Retry-After", async () => {
  const { next, release, started } = blockedSubscriptions(100);
  const [first, second] = [next("first", "store"), next("second", "store")];
  const refused = await next("third", "store");
  expect(refused.errors[0]).toMatchObject({
    message: "Too many different subscriptions of this store wait for their values.",
    extensions: { code: "UNAVAILABLE", retryAfterSeconds: 1 },
  });
  expect(started).toEqual(["first", "second"]);
  const ofAnotherStore = next("other", "another store");
  await expect.poll(() => started).toContain("other");
  release();
  expect(await Promise.all([first, second, ofAnotherStore])).toMatchObject(["first", "second", "other"].map(tick));
});

test("a waiting value is executed once another of its store is done", async () => {
  const { next, release, started } = blockedSubscriptions(20_000);
  const values = ["first", "second", "third", "fourth"].map((name) => next(name, "store"));
  await expect.poll(() => started).toEqual(["first", "second"]);
  release();
  expect(await Promise.all(values)).toMatchObject(["first", "second", "third", "fourth"].map(tick));
});

test("subscribers share a value with those whose tokens have the same scopes, and with no others", async () => {
  const { next, release, started } = blockedSubscriptions(20_000);
  const values = [next("same", "store"), next("same", "store"), next("same", "store", ["analytics:read"])];
  await expect.poll(() => started).toEqual(["same", "same"]);
  release();
  expect(await Promise.all(values)).toMatchObject(["same", "same", "same"].map(tick));
  expect(started).toHaveLength(2);
});
