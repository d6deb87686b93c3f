// @tier all
import { expect, test } from "vitest";
import { findHolder } from "../../src/database/embedded/folder.js";
import { connect, embeddedConnection } from "../../src/database/open.js";
import { crashOrders } from "../support/faults/crash.orders.js";
import { createMigratedDatabase } from "../support/database/ownDatabase.js";
import { makePlaceWithStore, removePlace } from "../support/process.js";
import { isLong } from "../support/run/tier.js";

const kills = isLong ? 25 : 1;
const orders = isLong ? 1_000 : 30;
const timeoutMs = isLong ? undefined : 60_000;

test(
  "embedded database: orders that are delivered twice, in random order, to a server that is killed, count once to the cent",
  async ({ onTestFinished }) => {
    const place = await makePlaceWithStore();
    onTestFinished(() => removePlace(place));
    const { env, dataDir } = place;
    const open = async () => {
      const socketFolder = (await findHolder(dataDir))?.socketFolder ?? "";
      return connect(embeddedConnection(socketFolder), () => undefined);
    };
    expect(await crashed("embedded", { env, open, settled: () => Promise.resolve() })).toBe(kills);
  },
  timeoutMs,
);

test(
  "PostgreSQL: orders that are delivered twice, in random order, to a server that is killed, count once to the cent",
  async ({ onTestFinished }) => {
    const own = await createMigratedDatabase("crashorders");
    onTestFinished(() => own.drop());
    const open = () => Promise.resolve(own.open({ application_name: "beside", max: 1 }));
    const site = { env: { DATABASE_URL: own.url }, open, settled: () => Promise.resolve() };
    expect(await crashed("postgresql", site)).toBe(kills);
  },
  timeoutMs,
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
