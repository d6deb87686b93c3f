// @tier all
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { within } from "../../support/busy.js";
import { type HostileFile, hostileFiles } from "../../support/catalog/hostileFiles.js";
import { makePlaceWithStore, type Place, removePlace, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { paths, product } from "../../support/products.js";

const token = "a-demo-token-of-my-own";
const headers = { "x-service-access-token": token };

let place: Place;
let server: Serving;
beforeAll(async () => {
  place = await makePlaceWithStore();
  server = await start({});
  await sendOne(); // so that reading needs nothing more than it
  return async () => {
    await server.stop();
    await removePlace(place);
  };
});

function start(env: object): Promise<Serving> {
  return serve({ ...place.env, DEMO_TOKEN: token, DEMO_TRAFFIC: "false", ...env });
}

async function sendOne(): Promise<void> {
  const body = JSON.stringify({ product: product("one") });
  const sent = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
  expect((await fetch(`${server.url}${paths.one}`, sent)).status).toBe(200);
}

function send({ path, type, query = "", coding, body }: HostileFile): Promise<Response> {
  return fetch(`${server.url}${paths[path]}${query}`, {
    method: "POST",
    headers: { ...headers, "content-type": type, ...(coding !== undefined && { "content-encoding": coding }) },
    body: new Uint8Array(Buffer.from(body)),
  });
}

/** Of the process, in bytes. */
function memory(): number {
  return Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) * 1_024;
}

/** What others see while work is done: how long the longest of their requests takes, and the most memory. */
async function whileOthersRead<Result>(work: Promise<Result>) {
  const state = { isDone: false };
  void work.finally(() => (state.isDone = true));
  let [longestMs, mostBytes] = [0, 0];
  while (!state.isDone) {
    const begun = performance.now();
    const { status } = await fetch(`${server.url}${paths.of("one")}`, { headers });
    expect(status).toBe(200);
    longestMs = Math.max(longestMs, performance.now() - begun);
    mostBytes = Math.max(mostBytes, memory());
  }
  return { result: await work, longestMs, mostBytes };
}

test.each(Object.entries(hostileFiles))("%s", async (_, file) => {
  const before = memory();
  const { result, longestMs, mostBytes } = await whileOthersRead(send(file));
  const answer = (await result.json()) as { code?: string; imported?: number };
  expect([200, 400, 413]).toContain(result.status);
  expect(JSON.stringify(answer)).not.toContain("undefined");
  expect(longestMs).toBeLessThan(within(250));
  expect(mostBytes - before).toBeLessThan(200e6);
});

test("a stop ends a server in time while it reads a file that takes long, and the file's place is free before", async () => {
  const blank = gzipSync("\n".repeat(150_000_000));
  const file = { path: "bulk", type: "application/x-ndjson", coding: "gzip", body: blank } as const;
  const threads = () => readdirSync(`/proc/${server.pid}/task`).length;
  await server.stop();
  server = await start({ SHUTDOWN_GRACE_MS: "500" });
  expect((await send({ ...file, body: gzipSync("\n") })).status).toBe(200);
  const before = threads();
  const answer = send(file).catch(() => "none");
  await until(() => threads() > before, "a thread to read the file");
  const begun = performance.now();
  expect(await server.stop()).toMatchObject({ status: 0 });
  expect(performance.now() - begun).toBeLessThan(within(500 + 3_000));
  expect(await answer).toBe("none");
  server = await start({});
});
