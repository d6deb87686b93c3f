import * as fc from "fast-check";
import { OperationTypeNode } from "graphql";
import { beforeAll, expect, test } from "vitest";
import { schema } from "../../src/api/graphql/schema.js";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { ago, fromNow } from "../support/clock.js";
import { checkedGraphQL } from "../support/fuzz/fuzz.answers.js";
import { harmDone, sendRaw } from "../support/fuzz/fuzz.js";
import { type GeneratedOperation, operationsOf } from "../support/fuzz/fuzz.operations.js";
import { product, products } from "../support/products.js";
import { isLong } from "../support/run/tier.js";
import { readAnalytics, recorded, saved } from "../support/shows.js";

// An operation is executed by Yoga at first, then by graphql-js, and from its third use on as code that graphql-jit makes of
// it where that is certain to change nothing. Each operation is sent once to each of three stores that have the same products
// and shows, and all of them go on having the same.

const app = await openTestApp({ analyticsRateLimit: 0, collectRateLimit: 0 });
let stores: readonly TestStore[];
beforeAll(async () => {
  stores = await Promise.all(Array.from({ length: 3 }, storeWithShows));
});

async function storeWithShows(): Promise<TestStore> {
  const store = await createTestStore(app);
  const described = { description: "A text", price: 12.5, images: ["https://shop.example/1.jpg"] };
  await store.post("/external/product/v1/bulk", {
    products: [product("a", described), product("b", described), ...products(2)],
  });
  const at = (minute: number) => `2026-05-04T18:${minute}:00Z`;
  for (const id of ["show", "other"]) {
    await saved(store, { id });
    await recorded(store, id, [
      { id: "0", type: "VIEW", channel: "LIVE", viewerId: "v", seconds: 5, occurredAt: at(31) },
      { id: "1", type: "ADD_TO_CART", channel: "REPLAY", viewerId: "w", productId: "a", occurredAt: at(32) },
      { id: "2", type: "ORDER", channel: "LIVE", amount: 30, occurredAt: at(33) },
    ]);
  }
  return store;
}

const readCatalog = `{ products(first: 100) { nodes { id sku title description price price_min price_max available images
  featured_image url } } liveStreams(first: 100) { nodes { id name status startedAt durationSeconds host { name email } } } }`;

/** What a store has, read without the fast path. */
async function contentOf(store: TestStore): Promise<string> {
  const read = async (query: string, variables: object) =>
    (await sendRaw(app, store, post("/graphql?lane=yoga", { query, variables }))).text;
  const shows = ["show", "other"].map((lsId) => read(readAnalytics, { lsId }));
  return [await read(readCatalog, {}), ...(await Promise.all(shows))].join("\n");
}

function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  return {
    method: "POST",
    path,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

async function answerTo(store: TestStore, { kind, query, variables }: GeneratedOperation): Promise<object> {
  if (kind === OperationTypeNode.SUBSCRIPTION)
    return { status: 200, text: await firstEvent(store, { query, variables }) };
  const answer = await sendRaw(app, store, post("/graphql", { query, variables }));
  return { status: answer.status, ...comparable(checkedGraphQL(answer), store) };
}

/** Fields run side by side, so which of them fails first is left to chance. */
function comparable(body: object, store: TestStore) {
  const text = JSON.stringify(body).replaceAll(store.id, "store");
  const { data, errors = [] } = JSON.parse(withoutTimes(text));
  return { data, errors: errors.map((error: object) => JSON.stringify(error)).toSorted() };
}

const [hourAgo, inAnHour] = [ago(3_600_000), fromNow(3_600_000)];

/** Times of this test, also in cursors, in answers that are otherwise the same. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/"WyJVUERBVEVE[\w-]+"/gu, (cursor) =>
      Buffer.from(cursor, "base64url")
        .toString()
        .replace(/\d{16}/u, "now"),
    )
    .replaceAll(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/gu, (quoted, time: string) => {
      const at = new Date(time);
      return hourAgo < at && at < inAnHour ? '"now"' : quoted;
    });
}

async function firstEvent(store: TestStore, body: object): Promise<string> {
  const stop = new AbortController();
  const { path, ...options } = post("/graphql", body, { accept: "text/event-stream" });
  const response = await store.fetch(path, { ...options, signal: stop.signal });
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const event = /event: next\ndata: (.*)\n\n/u.exec(text)?.[1];
    if (event !== undefined) {
      stop.abort();
      return withoutTimes(event);
    }
  }
  return text;
}

/** Has failed once: nothing stands in place of what was sent where a document has no variables. */
const emptyList: GeneratedOperation = {
  kind: OperationTypeNode.MUTATION,
  query: "mutation { importProducts(products: []) { imported } }",
  variables: {},
};

/** Has failed once: null for a variable with a default is coerced before it is replaced by what was sent. */
const nullEvents: GeneratedOperation = {
  kind: OperationTypeNode.MUTATION,
  query:
    'mutation ($e: [ShopperEventInput!] = []) { recordShopperEvents(lsId: "show", events: $e) { accepted duplicates } }',
  variables: { e: null },
};

async function expectSameContent(): Promise<void> {
  const [content, ...others] = await Promise.all(stores.map(contentOf));
  for (const other of others) expect(other).toBe(content);
}

test("what an operation answers, and what it stores, does not depend on how often it was sent", async () => {
  const property = fc.asyncProperty(operationsOf(schema), async (operation) => {
    const answers: object[] = [];
    for (const store of stores) answers.push(await answerTo(store, operation));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    if (isLong && operation.kind === OperationTypeNode.MUTATION) await expectSameContent();
  });
  // Once the stores differ, all smaller operations fail too.
  await fc.assert(property, { endOnFailure: true, examples: [[emptyList]] });
  await expectSameContent();
  expect(harmDone(app)).toEqual([]);
});

const operationsTried = isLong ? 10_000 : 300;

test(`none of ${operationsTried} operations ends as INTERNAL`, async () => {
  const store = await storeWithShows();
  const property = fc.asyncProperty(operationsOf(schema), async (operation) => {
    expect(JSON.stringify(await answerTo(store, operation))).not.toContain('"INTERNAL"');
  });
  await fc.assert(property, { numRuns: operationsTried, endOnFailure: true, examples: [[nullEvents]] });
  expect(harmDone(app)).toEqual([]);
});
