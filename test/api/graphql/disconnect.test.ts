import { parse } from "graphql";
import { describe, expect, test } from "vitest";
import { scopes } from "../../../src/schema/scopes.js";
import { ResponseBudget } from "../../../src/schema/limits/responseBudget.js";
import type { Context } from "../../../src/schema/context.js";
import { executeOperation } from "../../../src/api/execution/execute.js";
import type { Observation } from "../../../src/schema/operationNames.js";
import { compiled, interpreted } from "../../../src/api/execution/operation.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { importMany, paths, product, products, storedKeys } from "../../support/products.js";
import { converse } from "../../support/http/socket.js";

const app = await openTestApp();

const many = (length: number, each: (index: number) => string) => Array.from({ length }, (_, i) => each(i)).join(" ");

test("an operation stops once its client has disconnected", async () => {
  const store = await createTestStore(app);
  const count = 250;
  await store.graphql(importMany, { products: products(count) });
  const stored = async () => Object.keys(await storedKeys(app, store)).length;
  const query = `mutation { ${many(count, (i) => `a${i}: deleteProduct(productId: "p${String(i).padStart(5, "0")}") { message }`)} }`;
  const body = JSON.stringify({ query });
  const { socket } = converse(
    app.url,
    `POST /graphql HTTP/1.1\r\nhost: x\r\nx-service-access-token: ${store.token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await expect.poll(stored, { interval: 1 }).toBeLessThan(count);
  socket.destroy();
  await expect
    .poll(() => app.accessLog.some((line) => line.includes(store.id) && line.includes('"aborted"')))
    .toBe(true);
  // What had begun may still end. Then nothing more happens, for as long as many of the others would have taken.
  await expect.poll(async () => new Set([await stored(), await stored(), await stored(), await stored()]).size).toBe(1);
  expect(await stored()).toBeGreaterThan(0);
});

describe.each([
  ["interpreted", interpreted],
  ["compiled", compiled],
])("in an operation that is %s,", (_, prepare) => {
  const observation: Pick<Observation, "begins" | "ended" | "within" | "importing" | "refused"> = {
    begins: () => undefined,
    ended: () => undefined,
    refused: () => undefined,
    within: (__, work) => work(),
    importing: (work) => work(),
  };

  /** Runs an operation whose client disconnects after so many fields have begun. */
  async function run(storeId: string, text: string, fields: number) {
    let begun = 0;
    const context = {
      db: app.db,
      identity: { storeId, scopes: new Set(scopes) },
      limits: { rates: { policies: {} }, bulkProductsMax: 100, response: new ResponseBudget() },
      sent: { isRest: false },
      observation,
      access: {
        isGone: () => (begun += 1) > fields,
        dbToWrite: () => app.db,
        confirmSometimes: () => undefined,
        endSignal: () => new AbortController().signal,
        explain: async (error: unknown) => error,
      },
    };
    // The fields asked for here need nothing else of a context.
    return executeOperation(prepare(schema, parse(text), undefined), {}, context as unknown as Context);
  }

  test.each([0, 1, 2])("imports after the first %d are not started", async (fields) => {
    const store = await createTestStore(app);
    const input = (id: string) => {
      const { available: __, ...texts } = product(id);
      return `{ available: true ${Object.entries(texts)
        .map(([name, value]) => `${name}: "${value}"`)
        .join(" ")} }`;
    };
    const text = `mutation { a: importProduct(product: ${input("a")}) { created }
      b: importProducts(products: [${input("b")}]) { created } c: importProduct(product: ${input("c")}) { created } }`;
    const { errors } = await run(store.id, text, fields);
    expect(errors?.[0]?.extensions["code"]).toBe("CLIENT_CLOSED_REQUEST");
    expect(Object.keys(await storedKeys(app, store))).toEqual(["a", "b", "c"].slice(0, fields));
  });

  test("queries, and lists that wait for others, are not started either", async () => {
    const store = await createTestStore(app);
    await store.post(paths.one, { product: product("a") });
    const lists = `{ ${many(6, (i) => `a${i}: products { nodes { id } }`)} }`;
    expect(await run(store.id, lists, 6)).toMatchObject({ data: { a5: { nodes: [{ id: "a" }] } } });
    for (const [text, fields] of [
      [lists, 5],
      [`{ product(productId: "a") { id } }`, 0],
      [`{ liveStreams { nodes { id } } }`, 0],
    ] as const) {
      expect(await run(store.id, text, fields)).toMatchObject({
        errors: [{ extensions: { code: "CLIENT_CLOSED_REQUEST" } }],
      });
    }
  });
});
