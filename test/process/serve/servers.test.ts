// @tier all
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrationNames } from "../../../src/database/migrations/applied.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { cli, cliJson } from "../../support/process/cli.js";
import { createOwnDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { placeForTest, serve, type Serving } from "../../support/process.js";
import { needed } from "../../support/run/programs.js";
import { until } from "../../support/until.js";
import { atOnce, storeWithShow } from "../../support/access/rateLimit.js";
import { record } from "../../support/shows.js";
import { subscribe } from "../../support/http/subscribe.js";

const redisUrl = needed("TEST_REDIS_URL");

describe("three servers on one PostgreSQL and one Redis", () => {
  let own: OwnDatabase;
  let env: Record<string, string>;
  let database: OpenDatabase;
  let servers: Serving[];
  beforeAll(async () => {
    own = await createOwnDatabase("servers");
    env = { DATABASE_URL: own.url, REDIS_URL: redisUrl, DATABASE_POOL_MAX: "3" };
    servers = await atOnce(3, () => serve(env)); // on an empty database
    database = own.open();
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await own.drop();
  });
  const newStore = () => storeWithShow({ url: servers[0]?.url ?? "", db: database.client });
  test("started at once on an empty database, they migrate it once", async () => {
    expect(new Set(servers.map(({ url }) => url)).size).toBe(3);
    const applied = await own.query(
      `SELECT migration_name AS name, finished_at IS NOT NULL AS "isFinished", applied_steps_count AS steps, rolled_back_at
       FROM _prisma_migrations ORDER BY migration_name`,
    );
    const once = (name: string) => ({ name, isFinished: true, steps: 1, rolled_back_at: null });
    expect(applied).toEqual((await migrationNames()).map(once));
    const waiting = /^.*Waiting for another process that migrates or distributes this database.*\n/gmu; // on a busy machine
    expect(servers.map((server) => server.stderr().replaceAll(waiting, ""))).toEqual(["", "", ""]);
  });

  test("a command notifies them of events once, at its end, even if it fails, but not while it only checks", async () => {
    const { id } = await newStore();
    const place = await placeForTest();
    const file = join(place.temporary, "events.ndjson");
    await writeFile(file, [...Array<string>(5_000).fill(" ".repeat(256)), "no"].join("\n")); // several blocks
    const redis = new Redis(redisUrl);
    const told: string[] = [];
    const ended = new Promise((resolve) => {
      redis.on("message", (_, message: string) => {
        if (message === "end") resolve(told);
        else if (message.includes(id)) told.push(message);
      });
    });
    const channel = "vitrine:live-stream-changed";
    await redis.subscribe(channel);
    expect(await cli(["events", id, "show", file], env)).toMatchObject({ status: 1 });
    const publisher = redis.duplicate();
    await publisher.publish(channel, "end");
    await ended;
    redis.disconnect();
    publisher.disconnect();
    expect(told, "since a failure may come after something was recorded").toHaveLength(1);
  });

  const orders = 'subscription { liveStreamAnalytics(lsId: "show") { kpis { orders { total } } } }';
  /** Subscribes at each server. @returns for each, what it was told */
  const watchAtEach = (token: string, signal: AbortSignal) =>
    servers.map((server) => {
      const seen: any[] = [];
      const ended = (async () => {
        for await (const value of subscribe(server, { token }, { query: orders, variables: {} }, signal))
          seen.push(value);
      })();
      return { seen, ended, total: () => seen.at(-1)?.data?.liveStreamAnalytics.kpis.orders.total };
    });

  test("subscribers of any server get what each of them records", async () => {
    const store = await newStore();
    const end = new AbortController();
    const watching = watchAtEach(store.token, end.signal);
    const allSee = (total: number) => () => watching.every((each) => each.total() === total);
    await until(allSee(0), "the first values");
    for (const [index, { url }] of servers.entries()) {
      const events = [{ id: `order-${index}`, type: "ORDER", channel: "LIVE", amount: 1 }];
      const response = await fetch(`${url}/graphql`, {
        method: "POST",
        headers: { "x-service-access-token": store.token, "content-type": "application/json" },
        body: JSON.stringify({ query: record, variables: { lsId: "show", events } }),
      });
      expect(await response.json()).toEqual({ data: { recordShopperEvents: { accepted: 1, duplicates: 0 } } });
      await until(allSee(index + 1), `all values after the order at server ${index}`);
    }
    end.abort();
    await Promise.allSettled(watching.map(({ ended }) => ended));
  });

  test("a token that the command line revokes is refused by all of them soon, and its streams end", async () => {
    const store = await newStore();
    const issued = await cliJson(["token", "issue", store.id], env);
    const statusAt = async ({ url }: Serving): Promise<number> => {
      const headers = { "x-service-access-token": issued.token };
      return (await fetch(`${url}/external/product/v1/none`, { headers })).status;
    };
    expect(await Promise.all(servers.map(statusAt))).toEqual([400, 400, 400]); // known, and there is no such product
    const watching = watchAtEach(issued.token, AbortSignal.timeout(60_000));
    await until(() => watching.every(({ total }) => total() === 0), "the first values");
    await cliJson(["token", "revoke", store.id, issued.id], env);
    const isRefused = async (server: Serving) => (await statusAt(server)) === 401;
    await Promise.all(servers.map((server) => until(() => isRefused(server), `${server.url} to refuse it`)));
    await Promise.all(watching.map(({ ended }) => ended));
    const codes = watching.map(({ seen }) => seen.at(-1).errors?.[0].extensions.code);
    expect(codes).toEqual(["UNAUTHENTICATED", "UNAUTHENTICATED", "UNAUTHENTICATED"]);
  });
});
