// @tier all
import { expect, test } from "vitest";
import { embeddedSite, postgresqlSite } from "../support/faults/crash.js";
import { crashOrders } from "../support/faults/crash.orders.js";
import { isLong, ofDay } from "../support/run/tier.js";

const kills = isLong ? 25 : 1;
const orders = isLong ? 1_000 : 30;
const sites = [
  ["embedded", embeddedSite],
  ["postgresql", (context: Parameters<typeof embeddedSite>[0]) => postgresqlSite("crashorders", context)],
] as const;

test.for(ofDay(sites, 2))(
  "%s: orders that are delivered twice, in random order, to a server that is killed, count once to the cent",
  async ([engine, openSite], context) => {
    expect(await crashed(engine, await openSite(context))).toBe(kills);
  },
);

async function crashed(engine: string, site: Parameters<typeof crashOrders>[0]): Promise<number> {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const done = await crashOrders(site, { kills, orders, seed }).catch((error: unknown) => {
    throw new Error(`The seed was ${seed}.`, { cause: error });
  });
  process.stdout.write(
    `${engine}: ${orders} orders, ${done.deliveries} deliveries, ${done.kills} kills, 0 lost, 0 double (seed ${seed})\n`,
  );
  return done.kills;
}
