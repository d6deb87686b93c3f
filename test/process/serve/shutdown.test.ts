// @tier all
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../../src/config.js";
import { openDatabase, type OpenDatabase } from "../../../src/database/open.js";
import { createTestStore } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { placeWithStoreForTest, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { paths, product } from "../../support/products.js";
import { beginImport } from "../../support/http/slowImport.js";

const demoToken = "a-demo-token-of-my-own";
const rows = 4_000;
const longGrace = { SHUTDOWN_GRACE_MS: "60000" };
const shortGrace = { SHUTDOWN_GRACE_MS: "50" };

describe("a stop during a long import", () => {
  test("embedded database: lets it end, or aborts it after the grace period and stores nothing of it", async () => {
    const { env } = await placeWithStoreForTest();
    const variables = { ...env, DEMO_TOKEN: demoToken, DEMO_TRAFFIC: "false" };
    const start = (grace: object) => serve({ ...variables, ...grace });
    const open = () => openDatabase(readConfig(env), "shared", () => undefined);
    expect(await stopTwice(start, demoToken, open)).toEqual(wholeOrNothing);
  });

  test("PostgreSQL, 2 processes: lets it end, or aborts it after the grace period and stores nothing of it", async () => {
    const own = await createMigratedDatabase("stop");
    onTestFinished(() => own.drop());
    const database = own.open();
    const { token } = await createTestStore({ url: "", db: database.client });
    const start = (grace: object) => serve({ DATABASE_URL: own.url, WEB_CONCURRENCY: "2", ...grace });
    expect(await stopTwice(start, token, async () => database)).toEqual(wholeOrNothing);
  });
});

test("a stop ends a server while it reads a file that takes long", async () => {
  const { env } = await placeWithStoreForTest();
  const server = await serve({ ...env, DEMO_TOKEN: demoToken, DEMO_TRAFFIC: "false", ...shortGrace });
  const threads = () => readdirSync(`/proc/${server.pid}/task`).length;
  const send = (blank: string) => {
    const type = { "content-type": "application/x-ndjson", "content-encoding": "gzip" };
    const headers = { "x-service-access-token": demoToken, ...type };
    return fetch(`${server.url}${paths.bulk}`, { method: "POST", headers, body: new Uint8Array(gzipSync(blank)) });
  };
  expect((await send("\n")).status).toBe(200);
  const before = threads();
  const answer = send("\n".repeat(150_000_000)).catch(() => "none");
  await until(() => threads() > before, "a thread to read the file");
  expect(await server.stop()).toMatchObject({ status: 0 });
  expect(await answer).toBe("none");
});

test("a second signal ends a server at once, whatever it is doing, and leaves no temporary files", async () => {
  const { env, temporary } = await placeWithStoreForTest();
  const server = await serve({ ...env, ...longGrace, DEMO_TOKEN: demoToken });
  await beginImport(server.url, demoToken);
  server.process.kill("SIGTERM");
  await until(() => isClosed(server), "no new connection to be taken");
  expect(await server.stop("SIGTERM")).toMatchObject({ status: "SIGTERM", stderr: "" });
  expect(await readdir(temporary)).toEqual([]);
});

const wholeOrNothing = {
  waited: { answer: expect.objectContaining({ imported: rows }), end: 0, stderr: "", stored: rows },
  cut: { answer: "none", end: 0, stored: 0 },
};

/**
 * Stops a server twice while it imports: with time enough and without.
 *
 * @param start starts it, each time on the same data
 * @param token of a store
 * @param open opens its database once it has ended
 */
async function stopTwice(
  start: (grace: object) => Promise<Serving>,
  token: string,
  open: () => Promise<Pick<OpenDatabase, "client" | "close">>,
) {
  let server = await start(longGrace);
  const waited = sendImport(server, token, "waited");
  await waited.sent;
  const end = await server.stop();

  server = await start(shortGrace);
  const cut = sendImport(server, token, "cut");
  await cut.sent;
  const { status } = await server.stop();

  const database = await open();
  const stored = (name: string) => database.client.product.count({ where: { id: { startsWith: `${name}-` } } });
  const outcome = {
    waited: { answer: await waited.answer, end: end.status, stderr: end.stderr, stored: await stored("waited") },
    cut: { answer: await cut.answer, end: status, stored: await stored("cut") },
  };
  await database.close();
  return outcome;
}

/** A CSV whose import takes longer than the short grace. @returns when all of it was sent, and the answer to it */
function sendImport({ url }: Serving, token: string, name: string) {
  const products = Array.from({ length: rows }, (_, row) => product(`${name}-${row}`));
  const call = request(`${url}${paths.csv}`, {
    method: "POST",
    agent: false,
    headers: { "x-service-access-token": token, "content-type": "application/json", expect: "100-continue" },
  });
  const begun = once(call, "continue"); // a server that stops takes no connection that it has not accepted yet
  const sent = begun.then(() => {
    call.end(JSON.stringify({ csvContent: toCsv(products) }));
    return once(call, "finish");
  });
  const answer = once(call, "response").then(
    async ([response]) => JSON.parse(await text(response as IncomingMessage)),
    () => "none",
  );
  call.flushHeaders();
  return { sent, answer };
}

function isClosed({ url }: Serving): Promise<boolean> {
  return fetch(`${url}/healthz`, { headers: { connection: "close" } }).then(
    () => false,
    () => true,
  );
}
