import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addSite } from "../../../src/access/stores/site.js";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { foldTotals } from "../../../src/analytics/totals/fold.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { distribute } from "../../../src/database/migrations/distribute.js";
import { askCitus } from "../../../src/database/citus/nodes.js";
import { onNodeFunction } from "../../../src/database/citus/onNode.sql.js";
import { connect, type OpenDatabase } from "../../../src/database/open.js";
import { nodesOf } from "../../../src/database/engine.js";
import { fakeCitus } from "../../support/citus/fakeCitus.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import type { SentEvent } from "../../support/oracle.js";
import { longRows, products } from "../../support/products.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { until } from "../../support/until.js";

const quiet = () => undefined;

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("on a stand-in for Citus", () => {
  let own: OwnDatabase;
  let database: OpenDatabase;
  let show: ShowKey;
  let sent: string[];

  beforeAll(async () => {
    own = await createMigratedDatabase("on_node");
    const connection = { connectionString: own.url };
    await own.query(fakeCitus);
    await distribute(connection, quiet);
    database = connect({ ...connection, max: 4 }, quiet);
    database.probe.aroundQuery = (sql, send) => {
      sent.push(sql);
      return send();
    };
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });
  beforeEach(async () => {
    sent = [];
    show = await newShow(database.client);
    await until(
      () => nodesOf(database.client)?.runStatements(show.storeId) === true,
      "the store's node to run statements",
    );
  });

  const send = (events: readonly SentEvent[]) =>
    recordEvents(database.client, show.storeId, show.lsId, asInputs(events));
  const recordings = () => sent.filter((sql) => sql.includes("ShowEvent") || sql.includes(onNodeFunction));

  test("a batch of events is one call of a function, which counts as the statement itself", async () => {
    const events = someEvents(200);
    expect(await send(events.slice(0, 150))).toEqual({ accepted: 150, duplicates: 0 });
    expect(await send(events.slice(100))).toEqual({ accepted: 50, duplicates: 50 });
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(events));
    const statement = `SELECT ${onNodeFunction}($1, $2, $3::text[], $4::text[]) AS answer`;
    expect(new Set(recordings().slice(0, 2))).toEqual(new Set([statement]));
  });

  test("imports, names of a show and folding call it too, also within their transactions", async () => {
    const events = someEvents(50);
    sent = [];
    await send(events);
    await foldTotals(database.client, show.storeId, show.lsId);
    const inserts = () => sent.filter((sql) => sql.includes("INSERT INTO"));
    expect(inserts()).toEqual([]);
    const list = products(longRows);
    await addSite(database.client, show.storeId, "de", "SHOP");
    sent = [];
    const imported = await importProducts(database.client, show.storeId, list, { site: { siteId: "de" } });
    expect(imported).toMatchObject({ imported: longRows, created: longRows });
    expect(await importProducts(database.client, show.storeId, list.slice(0, 3))).toMatchObject({
      created: 0,
      updated: 3,
    });
    expect(inserts()).toEqual([]);
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(events));
    expect(await database.client.product.count({ where: { storeId: show.storeId } })).toBe(longRows);
    expect(await database.client.productSite.count({ where: { storeId: show.storeId, siteId: "de" } })).toBe(longRows);
  });

  test("concurrent identical batches count once", async () => {
    const events = someEvents(120).map((event): SentEvent => ({ ...event, device: "mobile" }));
    const receipts = await Promise.all([0, 20, 40, 60].map((first) => send(events.slice(first, first + 60))));
    expect(receipts.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(120);
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(events));
  });

  test("texts of any characters arrive unchanged", async () => {
    const device = `a "quoted" \\ {brace}, NULL 'and' $1 ($1)[2] "Product" 👍`;
    const occurredAt = "2026-05-04T18:30:00Z";
    const seen = { viewerId: "v", productId: "NULL", seconds: 1, device, occurredAt };
    const event: SentEvent = { id: `"\\'`, type: "VIEW", channel: "LIVE", ...seen };
    expect(await send([event])).toEqual({ accepted: 1, duplicates: 0 });
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures([event]));
  });

  test("a store that has just been moved away is tried again, and then UNAVAILABLE", async () => {
    const events = someEvents(10);
    await own.query("UPDATE pg_dist_local_group SET groupid = 1");
    try {
      await expect(send(events)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      expect(recordings().length).toBeGreaterThan(1);
    } finally {
      await own.query("UPDATE pg_dist_local_group SET groupid = 0");
    }
    expect(await send(events)).toEqual({ accepted: 10, duplicates: 0 });
  });

  test("a role that does not own the tables sends the statement itself: the function would be refused", async () => {
    const guest = `vitrine_guest_${process.pid}`;
    await own.query(`CREATE ROLE ${guest}`);
    const pools = [new pg.Pool({ connectionString: own.url }), new pg.Pool({ connectionString: own.url })] as const;
    for (const pool of pools) pool.on("error", quiet); // its end does not wait for connections, which the drop ends
    pools[1].on("connect", (client) => void client.query(`SET ROLE ${guest}`));
    try {
      const grants = `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${guest}`;
      await own.query(grants);
      const answers = await Promise.all(pools.map((pool) => askCitus(pool)([show.storeId])));
      expect(answers.map((answer) => answer?.runStatements)).toEqual([true, false]);
    } finally {
      await Promise.all(pools.map((pool) => pool.end()));
      await own.query(`DROP OWNED BY ${guest}; DROP ROLE ${guest}`);
    }
  });
});
