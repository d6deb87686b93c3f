// @tier all
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startApp, storeAt } from "../../support/app.js";
import { order } from "../../support/events.js";
import { cliJson } from "../../support/process/cli.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { placeForTest, placeWithStoreForTest, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { recorded } from "../../support/shows.js";
import { subscribe } from "../../support/http/subscribe.js";

// Commands change figures of shows that somebody watches at a running server. There is no Redis.

const query = 'subscription { liveStreamAnalytics(lsId: "show") { kpis { orders { total } } } }';
const show = { id: "show", name: "Show", status: "LIVE", startedAt: "2026-01-01T00:00:00Z" };

/** Watches the show of a new store at a server. @returns what was seen, and how to run commands for it */
async function watchAt(server: Pick<Serving, "url">, env: Record<string, string>, folder: string) {
  const store = `live-${randomUUID()}`;
  await cliJson(["store", "create", store], env);
  const { token } = (await cliJson(["token", "issue", store], env)) as { token: string };
  const save = "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }";
  await fetch(`${server.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body: JSON.stringify({ query: save, variables: { s: show } }),
  });
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const seen: number[] = [];
  void (async () => {
    for await (const value of subscribe(server, { token }, { query, variables: {} }, leaving.signal))
      seen.push(value.data.liveStreamAnalytics.kpis.orders.total);
  })().catch(() => undefined); // it ends with the test
  await until(() => seen.length > 0, "the first value");
  const file = join(folder, "events.ndjson");
  await writeFile(file, JSON.stringify({ id: "1", type: "ORDER", channel: "LIVE", amount: 5 }));
  return { store, seen, record: ["events", store, "show", file], rebuild: ["analytics", "rebuild", store, "show"] };
}

async function expectToFollow(
  { seen, record, rebuild }: Awaited<ReturnType<typeof watchAt>>,
  env: Record<string, string>,
) {
  expect(new Set(seen)).toEqual(new Set([0]));
  await cliJson(record, env);
  await until(() => seen.at(-1) === 1, "the recorded order");
  const before = seen.length;
  await cliJson(rebuild, env);
  await until(() => seen.length > before, "a value after the rebuild");
  expect(seen.at(-1)).toBe(1);
}

test("live figures of a server on the embedded database follow what commands record and rebuild", async () => {
  const place = await placeWithStoreForTest();
  const { env, temporary } = place;
  const server = await serve(env);
  await expectToFollow(await watchAt(server, env, temporary), env);
  expect((await server.stop()).status).toBe(0);
});

test("live figures on PostgreSQL follow commands and what another server records, also after the LISTEN connection was lost", async () => {
  const own = await createMigratedDatabase("live");
  onTestFinished(() => own.drop());
  const env = { DATABASE_URL: own.url };
  const { temporary } = await placeForTest();
  // In this process: they share nothing but the database.
  const [server, other] = await Promise.all([startApp({}, own.open({ max: 4 })), startApp({}, own.open({ max: 4 }))]);
  onTestFinished(async () => void (await Promise.all([server.close(), other.close()])));
  await expectToFollow(await watchAt(server, env, temporary), env);
  const listening =
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine live'";
  const pids = async () => (await own.query(listening)).map(({ pid }) => Number(pid));
  const before = await pids();
  expect(before).toHaveLength(1); // nobody watches at the other one
  await own.query(`SELECT pg_terminate_backend(pid) FROM (${listening}) AS connections`);
  const isBack = async () => {
    const now = await pids();
    return now.length === 1 && !now.some((pid) => before.includes(pid));
  };
  await until(isBack, "another connection");
  const watched = await watchAt(server, env, temporary);
  await expectToFollow(watched, env);
  expect(server.logged.filter((line) => line.includes("LISTEN/NOTIFY is unavailable"))).toHaveLength(1);

  const { token } = await cliJson(["token", "issue", watched.store], env);
  await recorded(storeAt(other.url, { id: watched.store, token }), "show", [order("2", 1)]);
  await until(() => watched.seen.at(-1) === 2, "what the other server recorded");
});
