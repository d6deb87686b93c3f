import { describe, expect, test } from "vitest";
import { connect, type OpenDatabase } from "../../src/database/open.js";
import { createTestStore, openTestApp, startApp, type TestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { brokenDatabase } from "../support/faults/brokenDatabase.js";
import { exchange } from "../support/http/exchange.js";
import { graphqlError, problemBody } from "../support/problems.js";
import { paths, product } from "../support/products.js";

const app = await openTestApp();

const json = { "content-type": "application/json" };
const findProduct = { query: `{ product(productId: "a") { id } }` };

/** Runs `work` with an app of its own. */
async function withApp(database: OpenDatabase, work: (other: TestApp) => Promise<void>): Promise<void> {
  const other = await startApp({}, database);
  try {
    await work(other);
  } finally {
    await other.close();
  }
}

describe("INTERNAL", () => {
  const message = "Something went wrong on our side. Please give the requestId when you report it.";
  const secret = "s3cret-of-the-server";

  test("is 500 with the id of the request and nothing else about what happened; the log has it", async () => {
    const database = brokenDatabase(() => Promise.reject(new TypeError(`cannot read ${secret}`)));
    await withApp(database, async (other) => {
      const store = await createTestStore(other);
      const headers = { "X-Request-Id": "request-1" };
      const rest = await store.fetch(paths.of("a"), { headers });
      expect(rest.headers.get("x-request-id")).toBe("request-1");
      expect(await readAnswer(rest)).toEqual({
        status: 500,
        type: "application/problem+json",
        body: { ...problemBody("INTERNAL", message), requestId: "request-1" },
      });
      const imported = await store.fetch(paths.one, {
        method: "POST",
        headers: { ...json, ...headers },
        body: JSON.stringify({ product: product("a") }),
      });
      expect(await readAnswer(imported)).toMatchObject({
        status: 500,
        body: { ...problemBody("INTERNAL", message), requestId: "request-1" },
      });

      const graphql = await store.fetch("/graphql", {
        method: "POST",
        headers: { ...json, "X-Request-Id": "request-2" },
        body: JSON.stringify(findProduct),
      });
      const error = graphqlError("INTERNAL", message);
      expect(await graphql.json()).toEqual({
        data: { product: null },
        errors: [
          {
            ...error,
            extensions: { ...error.extensions, requestId: "request-2" },
            path: ["product"],
            locations: [{ line: 1, column: 3 }],
          },
        ],
      });
      const logged = other.logged.map(
        (line) => JSON.parse(line) as { requestId: string; err: { message: string; stack: string } },
      );
      expect(logged.map(({ requestId, err }) => [requestId, err.message])).toEqual([
        ["request-1", `cannot read ${secret}`],
        ["request-1", `cannot read ${secret}`],
        ["request-2", `cannot read ${secret}`],
      ]);
      expect(logged[0]?.err.stack).toContain("errors/server.test.ts");
    });
  });
});

describe("UNAVAILABLE", () => {
  const detail = "The database cannot be used at the moment. Nothing was changed.";
  const nobodyListens = { connectionString: "postgres://postgres@127.0.0.1:1/postgres" };

  test("is 503 with Retry-After when the database cannot be reached, in both styles; the process stays up", async () => {
    const database = connect(nobodyListens, () => undefined);
    await withApp(database, async (other) => {
      const headers = { "X-Service-Access-Token": "vt_any", ...json };
      for (const method of ["GET", "DELETE"]) {
        const answer = await exchange(other.url, paths.of("a"), { method, headers });
        expect(answer).toMatchObject({ status: 503, body: problemBody("UNAVAILABLE", detail) });
        expect(answer.headers["retry-after"]).toBe("1");
        expect(answer.headers["content-type"]).toBe("application/problem+json");
      }
      const graphql = await exchange(other.url, "/graphql", {
        method: "POST",
        headers,
        body: [JSON.stringify(findProduct)],
      });
      const { extensions, ...error } = graphqlError("UNAVAILABLE", detail);
      expect(graphql).toMatchObject({
        status: 503,
        headers: { "retry-after": "1" },
        body: { errors: [{ ...error, extensions: { ...extensions, retryAfterSeconds: 1 } }] },
      });
      expect(await exchange(other.url, "/readyz")).toMatchObject({
        status: 503,
        body: { status: "unavailable", database: "unreachable" },
      });
      expect(await exchange(other.url, "/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    });
  });

  test("is returned too when the database goes away during an operation", async () => {
    const gone = connect(nobodyListens, () => undefined);
    const database = brokenDatabase(() => gone.client.$queryRaw<never>`SELECT 1`);
    await withApp(database, async (other) => {
      const store = await createTestStore(other);
      const unavailable = { status: 503, body: problemBody("UNAVAILABLE", detail) };
      expect(await store.get(paths.of("a"))).toMatchObject(unavailable);
      expect(await store.delete(paths.of("a"))).toMatchObject(unavailable);
      expect(await store.post(paths.one, { product: product("a") })).toMatchObject(unavailable);
      expect(await store.graphql(findProduct.query)).toMatchObject({
        data: { product: null },
        errors: [{ message: detail, path: ["product"], extensions: { code: "UNAVAILABLE", retryAfterSeconds: 1 } }],
      });
    });
    await gone.close();
  });
});

describe("a request", () => {
  test("has its X-Request-Id in the answer, whatever the answer is", async () => {
    const store = await createTestStore(app);
    for (const path of ["/", "/healthz", "/nowhere", "/graphql", "/openapi.json", paths.one, paths.of("a")]) {
      const response = await store.fetch(path, { headers: { "X-Request-Id": "a.b:c-d_9" } });
      expect({ path, id: response.headers.get("x-request-id") }).toEqual({ path, id: "a.b:c-d_9" });
      await response.body?.cancel();
    }
  });

  test("without an X-Request-Id, or with one that is not harmless, gets a new one", async () => {
    const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u;
    const seen = new Set<unknown>();
    for (const given of [undefined, "", "a b", "x".repeat(129), "<script>", '{"a":1}', "é"]) {
      const headers = given === undefined ? {} : { "X-Request-Id": given };
      const { headers: received } = await exchange(app.url, "/healthz", { headers });
      expect(received["x-request-id"]).toMatch(uuid);
      seen.add(received["x-request-id"]);
    }
    expect(seen.size).toBe(7);
  });

  test("with a malformed Host header is served like any other", async () => {
    const { token } = await createTestStore(app);
    for (const host of ["a b", "[", "%", "a:b:c", "..", "😀"].map((name) => Buffer.from(name).toString("latin1"))) {
      const headers = { host, "X-Service-Access-Token": token, ...json };
      expect(
        await exchange(app.url, "/graphql", { method: "POST", headers, body: ['{"query":"{__typename}"}'] }),
      ).toMatchObject({
        status: 200,
        body: { data: { __typename: "Query" } },
      });
      expect(await exchange(app.url, paths.of("a"), { headers })).toMatchObject({ status: 400 });
    }
  });
});
