// @tier all
import { expect, test } from "vitest";
import { createTestStore, storeAt } from "../support/app.js";
import { view } from "../support/events.js";
import { embeddedSite, postgresqlSite } from "../support/faults/crash.js";
import { netOf, recordedOrders, sentOrder } from "../support/figures/orders.js";
import { serve, start, vitrineJson } from "../support/process.js";
import { ofDay } from "../support/run/tier.js";
import { recorded, saved } from "../support/shows.js";
import { until } from "../support/until.js";

const orders = 1_500;
const sites = [
  ["embedded", embeddedSite],
  ["postgresql", (context: Parameters<typeof embeddedSite>[0]) => postgresqlSite("recount", context)],
] as const;

test.for(ofDay(sites, 2))(
  "%s: a change of rule goes on after kill -9 of the command that asked for it, and of the server",
  { timeout: 120_000 },
  async ([, openSite], context) => {
    const site = await openSite(context);
    const env = { ANALYTICS_RATE_LIMIT: "0", ...site.env };
    let server = await serve(env);
    const database = await site.open();
    const { id, token } = await createTestStore({ url: server.url, db: database.client });
    await database.close();
    const store = storeAt(server.url, { id, token });
    const { id: lsId } = await saved(store);
    await recorded(store, lsId, [view("a", { occurredAt: "2026-05-04T18:40:00.000Z" })]);
    for (let n = 0; n < orders; n += 500)
      await recordedOrders(
        store,
        Array.from({ length: 500 }, (_, index) => sentOrder(String(n + index), 1, { viewerId: "v1" })),
      );
    const stateOf = () => vitrineJson(["attribution", "show", id], env);
    const command = start(["attribution", "set", id, "--rule", "LAST_SHOW"], env);
    await until(
      async () => (await stateOf()).rule === "LAST_SHOW" || command.process.exitCode !== null,
      "the new rule",
    );
    command.process.kill("SIGKILL");
    await until(async () => (await netOf(store, lsId)).sales > 0, "the first orders to be counted", 60_000);
    await server.stop("SIGKILL");
    server = await serve(env);
    await until(async () => (await stateOf()).recount === null, "all orders to be counted", 60_000);
    expect(await netOf(storeAt(server.url, { id, token }), lsId)).toEqual({
      sales: orders,
      refunds: 0,
      net: orders,
      orders,
    });
    await server.stop();
  },
);
