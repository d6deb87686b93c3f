// @tier all
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { cliJson } from "../../support/process/cli.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { placeForTest, placeWithStoreForTest, serve, type Serving } from "../../support/process.js";
import { until } from "../../support/until.js";
import { subscribe } from "../../support/http/subscribe.js";

// Commands change figures of shows that somebody watches at a running server. There is no Redis.

const query = 'subscription { liveStreamAnalytics(lsId: "show") { kpis { orders { total } } } }';
const show = { id: "show", name: "Show", status: "LIVE", startedAt: "2026-01-01T00:00:00Z" };

/** Watches the show of a new store at a server. @returns what was seen, and how to run commands for it */
async function watchAt(server: Serving, env: Record<string, string>, folder: string) {
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
  return { seen, record: ["events", store, "show", file], rebuild: ["analytics", "rebuild", store, "show"] };
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

describe("on PostgreSQL", () => {
  test("live figures of a server follow commands, also after it lost its LISTEN connection", async () => {
    const own = await createMigratedDatabase("live");
    onTestFinished(() => own.drop());
    const env = { DATABASE_URL: own.url };
    const place = await placeForTest();
    const server = await serve(env);
    onTestFinished(async () => void (await server.stop()));
    await expectToFollow(await watchAt(server, env, place.temporary), env);
    const listening =
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine live'";
    const before = await own.query(listening);
    expect(before).toHaveLength(1);
    await own.query(`SELECT pg_terminate_backend(pid) FROM (${listening}) AS connections`);
    const isBack = async () => {
      const now = await own.query(listening);
      return now.length === 1 && now[0]?.["pid"] !== before[0]?.["pid"];
    };
    await until(isBack, "another connection");
    await expectToFollow(await watchAt(server, env, place.temporary), env);
    const told = server
      .stderr()
      .split("\n")
      .filter((line) => line.includes("LISTEN/NOTIFY is unavailable"));
    expect(told).toHaveLength(1);
  });

  test("two servers that share only a database notify each other of changes", async () => {
    const own = await createMigratedDatabase("live2");
    onTestFinished(() => own.drop());
    const env = { DATABASE_URL: own.url };
    const place = await placeForTest();
    const server = await serve(env);
    const other = await serve(env);
    onTestFinished(async () => void (await Promise.all([server.stop(), other.stop()])));
    const { seen, record } = await watchAt(server, env, place.temporary);
    const { token } = (await cliJson(["token", "issue", record[1] ?? ""], env)) as { token: string };
    await fetch(`${other.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-service-access-token": token },
      body: JSON.stringify({
        query:
          'mutation { recordShopperEvents(lsId: "show", events: [{ id: "2", type: ORDER, channel: LIVE, amount: 1 }]) { accepted } }',
      }),
    });
    await until(() => seen.at(-1) === 1, "what the other server recorded");
    expect(new Set(seen)).toEqual(new Set([0, 1]));
  });
});
