// @tier all
import { execFile } from "node:child_process";
import { once } from "node:events";
import { get, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { OpenDatabase } from "../../../src/database/open.js";
import type { TestStore } from "../../support/app.js";
import { createOwnDatabase } from "../../support/database/ownDatabase.js";
import { endOf, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { atOnce, limitHeaders, readRest, outcomes, storeWithShow, wasGranted } from "../../support/access/rateLimit.js";
import { beginImport } from "../../support/http/slowImport.js";

const imported = { message: "1 product was imported.", imported: 1, created: 1, updated: 0 };

describe("WEB_CONCURRENCY=2", () => {
  let env: Record<string, string>;
  let server: Serving;
  let database: OpenDatabase;
  beforeAll(async () => {
    const own = await createOwnDatabase("workers");
    env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "3", WEB_CONCURRENCY: "2", SHUTDOWN_GRACE_MS: "60000" };
    server = await serve(env); // the first start, so that there is something to migrate
    database = own.open();
    return async () => {
      server.process.kill("SIGKILL");
      await own.drop();
    };
  });
  const newStore = ({ url: at }: Serving = server) => storeWithShow({ url: at, db: database.client });

  test("two processes answer on one real port, which the banner shows once", async () => {
    const banner = `\nVitrine listens on ${server.url}\n  Dashboard  ${server.url}/dashboard\n  GraphiQL   ${server.url}/graphql\n  API docs   ${server.url}/docs\n  OpenAPI    ${server.url}/openapi.json\n\n`;
    expect(server.stdout().split(banner)).toEqual(["", expect.stringContaining("There is no store yet.")]);
    expect(server.url).toMatch(/:[1-9]\d*$/u);
    const pids = await workersOf(server);
    expect(pids).toHaveLength(2);
    for (const pid of pids) {
      process.kill(pid, "SIGSTOP");
      let answered = 0;
      const calls = Promise.all(Array.from({ length: 6 }, () => getHealth(server).then(() => (answered += 1))));
      await until(() => answered === 5, "the worker that runs to answer all but the call given to the other");
      process.kill(pid, "SIGCONT");
      await calls;
    }
    expect(server.stderr()).toBe("");
  });

  test("of 300 concurrent analytics reads exactly 100 are answered", async () => {
    const store = await newStore();
    const responses = await atOnce(300, () => readRest(store));
    expect(outcomes(responses)).toEqual({ granted: 100, refused: 200 });
    const left = responses.filter(wasGranted).map((response) => limitHeaders(response)[1]);
    expect(new Set(left.map((value) => /r=(\d+)/u.exec(value ?? "")?.[1])).size).toBe(100);
    expect(server.stderr()).toBe("");
  });

  test("subscribers of both processes see events that either records", async () => {
    const store = await newStore();
    const streams = [await subscribe(server, store), await subscribe(server, store)]; // connections are handed out in turn
    const seen = () => streams.map((orders) => orders());
    await expect.poll(seen).toEqual([0, 0]);
    for (const orders of [1, 2]) {
      await recordOrder(server, store, `order-${orders}`);
      await expect.poll(seen).toEqual([orders, orders]);
    }
  });

  test("a worker that is killed is replaced, and the service continues", async () => {
    const [first = 0, second = 0] = await workersOf(server);
    process.kill(first, "SIGKILL");
    await until(() => server.stderr().includes("a worker that ended"), "its end to be logged");
    expect(await atOnce(4, () => getHealth(server))).toEqual([200, 200, 200, 200]);
    await until(async () => (await workersOf(server)).filter((pid) => pid !== first).length === 2, "another");
    expect(await workersOf(server)).toContain(second);
    const told = server
      .stderr()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told[0]).toMatchObject({ level: 40, worker: first, reason: expect.any(String) });
  });

  test("a stop from the terminal, which signals all processes, lets running requests end and exits with 0", async () => {
    const own = await serve(env);
    const pids = await workersOf(own);
    const { token } = await newStore(own);
    const importing = [await beginImport(own.url, token), await beginImport(own.url, (await newStore(own)).token)];
    const stopped = own.stop("SIGINT");
    for (const pid of pids) process.kill(pid, "SIGINT");
    await untilClosed(own);
    expect(await Promise.all(importing.map((each) => each.finish()))).toEqual([imported, imported]);
    expect(await stopped).toMatchObject({ status: 0, stderr: "" });
    expect(await countAlive(pids)).toBe(0);
  });

  test("a second signal ends all processes at once", async () => {
    const own = await serve(env);
    const pids = await workersOf(own);
    await beginImport(own.url, (await newStore(own)).token);
    own.process.kill("SIGTERM");
    await untilClosed(own);
    expect(await own.stop("SIGTERM")).toMatchObject({ status: "SIGTERM" });
    await until(async () => (await countAlive(pids)) === 0, "the workers to be gone");
  });

  test("a worker that cannot stop is killed 3 seconds after the grace period, and the others are not waited for longer", async () => {
    const own = await serve({ ...env, SHUTDOWN_GRACE_MS: "100" });
    const [stuck = 0] = await workersOf(own);
    process.kill(stuck, "SIGSTOP");
    own.process.kill("SIGTERM");
    const { status, stderr } = await endOf(own);
    expect({ status, log: JSON.parse(stderr) }).toMatchObject({ status: 0, log: { level: 40, workers: [stuck] } });
    expect(await countAlive([stuck])).toBe(0);
  });

  test("workers whose primary was killed finish running requests and exit", async () => {
    const pids = await workersOf(server);
    const importing = await beginImport(server.url, (await newStore()).token);
    server.process.kill("SIGKILL");
    await until(async () => (await countAlive(pids)) === 1, "the idle worker to end");
    expect(await importing.finish()).toEqual(imported);
    await until(async () => (await countAlive(pids)) === 0, "the other to end");
  });
});

/** The processes that run. One that has ended and that nobody has asked about is not among them. */
async function processes(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,stat="]);
  const lines = stdout.trim().split("\n");
  return lines
    .map((line) => line.trim().split(/ +/u))
    .filter(([, , stat = ""]) => !stat.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

async function workersOf(server: Serving): Promise<number[]> {
  return (await processes()).filter(({ parent }) => parent === server.pid).map(({ pid }) => pid);
}

async function countAlive(pids: readonly number[]): Promise<number> {
  return (await processes()).filter(({ pid }) => pids.includes(pid)).length;
}

function getHealth(server: Serving): Promise<number | undefined> {
  return statusOf(server, "/healthz");
}

/** Reads a path on a connection of its own, which no other call uses: the processes take them in turn. */
function statusOf(
  server: Serving,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = get(`${server.url}${path}`, { agent: false, headers }, (response) =>
      resolve(response.resume().statusCode),
    );
    call.once("error", reject);
  });
}

async function untilClosed({ url }: Serving): Promise<void> {
  // A connection that comes while the last worker closes is given to nobody by node:cluster, and ends with the primary.
  const refused = () =>
    fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(
      () => false,
      () => true,
    );
  await until(refused, "no new connection to be taken");
}

/** A GraphQL operation on a connection of its own, which lasts as long as the test. */
async function callAlone(
  server: Serving,
  { token }: TestStore,
  accept: string,
  body: object,
): Promise<IncomingMessage> {
  const headers = { "x-service-access-token": token, "content-type": "application/json", accept };
  const call = request(`${server.url}/graphql`, { method: "POST", agent: false, headers });
  onTestFinished(() => void call.destroy());
  call.end(JSON.stringify(body));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response.setEncoding("utf8");
}

/** Watches the store's show. @returns the number of orders that were seen last */
async function subscribe(server: Serving, store: TestStore): Promise<() => number> {
  const query = 'subscription { liveStreamAnalytics(lsId: "show") { kpis { orders { total } } } }';
  const response = await callAlone(server, store, "text/event-stream", { query });
  let received = "";
  response.on("data", (part: string) => {
    received += part;
  });
  response.on("error", () => undefined); // the test is over
  return () => Number([...received.matchAll(/"total":(\d+)/gu)].at(-1)?.[1] ?? -1);
}

async function recordOrder(server: Serving, store: TestStore, id: string): Promise<void> {
  const query =
    'mutation ($events: [ShopperEventInput!]!) { recordShopperEvents(lsId: "show", events: $events) { accepted } }';
  const variables = { events: [{ id, type: "ORDER", channel: "LIVE", amount: 1 }] };
  const answer = await text(await callAlone(server, store, "application/json", { query, variables }));
  expect(JSON.parse(answer)).toEqual({ data: { recordShopperEvents: { accepted: 1 } } });
}
