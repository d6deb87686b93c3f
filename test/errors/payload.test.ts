import { createConnection } from "node:net";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { exchange } from "../support/http/exchange.js";
import { graphqlError, problemBody } from "../support/problems.js";
import { paths, product, storedProducts } from "../support/products.js";

const bytesMax = 200_000;
const app = await openTestApp({ bodyBytesMax: bytesMax });

const json = { "content-type": "application/json" };
const posts = [paths.one, paths.bulk, paths.csv];

describe("PAYLOAD_TOO_LARGE", () => {
  const detail = `The body may have at most ${bytesMax} bytes (MAX_BODY_BYTES).`;
  const tooLarge = { status: 413, body: problemBody("PAYLOAD_TOO_LARGE", detail) };
  const tooLargeInGraphQL = { status: 413, body: { errors: [graphqlError("PAYLOAD_TOO_LARGE", detail)] } };
  const half = Buffer.alloc(bytesMax / 2 + 1, " ");

  test("is 413 by the content-length alone, before anything of the body is there", async () => {
    const { token } = await createTestStore(app);
    const headers = { ...json, "X-Service-Access-Token": token, "content-length": String(bytesMax + 1) };
    const options = { method: "POST", headers, unfinished: true };
    for (const path of posts) expect(await exchange(app.url, path, options)).toMatchObject(tooLarge);
    expect(await exchange(app.url, "/graphql", options)).toMatchObject(tooLargeInGraphQL);
  });

  test("is 413 without a content-length as soon as too much has arrived, though the body goes on", async () => {
    const { token } = await createTestStore(app);
    const headers = { ...json, "X-Service-Access-Token": token, "transfer-encoding": "chunked" };
    const options = { method: "POST", headers, body: [half, half], unfinished: true };
    for (const path of posts) expect(await exchange(app.url, path, options)).toMatchObject(tooLarge);
    expect(await exchange(app.url, "/graphql", options)).toMatchObject(tooLargeInGraphQL);
  });

  test("is not returned for a body of exactly the limit, with or without a content-length", async () => {
    const { token } = await createTestStore(app);
    const body = [Buffer.from('{"products":[]'), Buffer.alloc(bytesMax - 15, " "), Buffer.from("}")];
    const headers = { ...json, "X-Service-Access-Token": token };
    for (const framing of [{ "content-length": String(bytesMax) }, { "transfer-encoding": "chunked" }]) {
      const { status } = await exchange(app.url, paths.bulk, {
        method: "POST",
        headers: { ...headers, ...framing },
        body,
      });
      expect(status).toBe(200);
    }
  });

  test("and other early refusals reach a client that sends its whole body first", async () => {
    const store = await createTestStore(app);
    const body = Buffer.alloc(12_000_000, " "); // more than sockets hold
    for (const [status, path, headers, sent] of [
      [413, paths.bulk, json, body],
      [413, "/graphql", json, new Blob([body]).stream()],
      [401, paths.bulk, { ...json, "X-Service-Access-Token": "wrong" }, body],
      [415, paths.bulk, { "content-type": "text/plain" }, new Blob([body]).stream()],
      [404, "/nowhere", json, body],
    ] as const) {
      const response = await store.fetch(path, { method: "POST", headers, body: sent, duplex: "half" } as RequestInit);
      expect((await readAnswer(response)).status).toBe(status);
    }
  });

  test("a body that ends too early stores nothing, and the server goes on", async () => {
    const store = await createTestStore(app);
    const { hostname, port } = new URL(app.url);
    const head = [
      `POST ${paths.one} HTTP/1.1`,
      "Host: x",
      `X-Service-Access-Token: ${store.token}`,
      "Content-Type: application/json",
    ];
    const socket = createConnection(Number(port), hostname);
    socket.end(`${[...head, "Content-Length: 5000"].join("\r\n")}\r\n\r\n${JSON.stringify({ product: product("a") })}`);
    await buffer(socket);
    expect(await storedProducts(app, store)).toEqual([]);
    expect(await store.post(paths.bulk, { products: [] })).toMatchObject({ status: 200 });
  });
});
