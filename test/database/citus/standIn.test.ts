// @engine postgresql
import { Registry } from "prom-client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { foldTotals } from "../../../src/events/record/fold.js";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { readNodeStates } from "../../../src/database/citus/nodeStates.js";
import { distribute } from "../../../src/database/migrations/distribute.js";
import { askCitus } from "../../../src/database/citus/nodes.js";
import { onNodeFunction } from "../../../src/database/citus/onNode.sql.js";
import type { OpenDatabase } from "../../../src/database/open.js";
import { nodesOf } from "../../../src/database/engine.js";
import { forStore } from "../../../src/database/shares/forStore.js";
import { collectNodes } from "../../../src/server/telemetry/metrics.js";
import { fakeCitus } from "../../support/citus/fakeCitus.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import type { SentEvent } from "../../support/oracle.js";
import { longRows, products } from "../../support/products.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { until } from "../../support/until.js";

const quiet = () => undefined;
/** The one shard of the stand-in. */
const shard = 102008;

let own: OwnDatabase;
let connection: { connectionString: string };
let database: OpenDatabase;
let show: ShowKey;
let sent: string[];

beforeAll(async () => {
  own = await createMigratedDatabase("stand_in");
  connection = { connectionString: own.url };
  await own.query(fakeCitus);
  await distribute(connection, quiet);
  database = own.open({ max: 4, connectionTimeoutMillis: 5_000 });
  database.probe.aroundQuery = (sql, send) => {
    sent.push(sql);
    return send();
  };
});
afterAll(() => own.drop());
beforeEach(async () => {
  sent = [];
  show = await newShow(database.client);
  await until(
    () => nodesOf(database.client)?.runStatements(show.storeId) === true,
    "the store's node to run statements",
  );
});

const db = () => forStore(database.client, show.storeId);
const send = (events: readonly SentEvent[], lockWaitMs = 15_000) =>
  recordEvents(db(), show.storeId, show.lsId, asInputs(events), { lockWaitMs });

describe("on the node of a store,", () => {
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
    const pools = [new pg.Pool(connection), new pg.Pool(connection)] as const;
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

describe("while a store is moved with its writes blocked", () => {
  let mover: pg.Client;
  beforeAll(async () => {
    mover = new pg.Client(connection);
    await mover.connect();
  });
  afterAll(() => mover.end());
  beforeEach(() => send(someEvents(3))); // names of the show are kept

  const beginMove = () => mover.query("SELECT pg_advisory_lock($1)", [shard]);
  const endMove = () => mover.query("SELECT pg_advisory_unlock($1)", [shard]);
  /** How many statements of this database wait for a lock. */
  const waiting = async (): Promise<number> => {
    const statement = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await mover.query(statement)).rows[0].count;
  };

  test("its writes wait without a connection, and are done once it has been moved", async () => {
    const events = someEvents(60);
    await beginMove();
    const batches = Array.from({ length: 12 }, (_, batch) => send(events.slice(5 * batch, 5 * batch + 5)));
    const imports = products(3).map((product) => importProducts(db(), show.storeId, [product]));
    const done = Promise.all([...batches, ...imports]);
    await until(async () => (await waiting()) > 0, "a statement to wait");
    const onlyOneWaits = async () => {
      expect(await forStore(database.client, "another").$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
      return (await waiting()) <= 1; // that which finds out
    };
    try {
      await until(onlyOneWaits, "the others to wait without a connection");
    } finally {
      await endMove();
    }
    await done;
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(events));
    expect(await database.client.product.count({ where: { storeId: show.storeId } })).toBe(3);
  });

  test("a batch that waits in vain is refused, and stored nowhere", async () => {
    await beginMove();
    try {
      await expect(send(someEvents(10).slice(5), 300)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    } finally {
      await endMove();
    }
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(someEvents(3)));
  });
});

describe("the nodes of Citus", () => {
  const add = (host: string) =>
    own.query(`INSERT INTO pg_dist_node VALUES ($1, 5432, 1, true, true, 'primary')`, [host]);

  test("are listed with their settings, or without any if they do not respond", async () => {
    await add("down");
    await add("frozen");
    const found = {
      connections: expect.any(Number),
      connectionsMax: expect.any(Number),
      preparedLong: 0,
      preparedMax: expect.any(Number),
      idleSlots: 0,
      hasJit: expect.any(Boolean),
    };
    expect(await readNodeStates(connection, 500)).toEqual([
      { node: "localhost:5432", found },
      { node: "down:5432", found: undefined },
      { node: "frozen:5432", found: undefined },
    ]);
  });

  test("have metrics, by node", async () => {
    await add("down");
    const registry = new Registry();
    collectNodes(registry, connection);
    const isRead = async () => (await registry.metrics()).includes("node_up{");
    await expect.poll(isRead).toBe(true); // a scrape does not wait for long
    const text = await registry.metrics();
    expect(text).toContain('vitrine_citus_node_up{node="localhost:5432"} 1\n');
    expect(text).toContain('vitrine_citus_node_up{node="down:5432"} 0\n');
    expect(text).toContain('vitrine_citus_node_prepared_transactions{node="localhost:5432"} 0\n');
    expect(text).toContain('vitrine_citus_node_idle_replication_slots{node="localhost:5432"} 0\n');
    expect(text).toMatch(/vitrine_citus_node_connections\{node="localhost:5432"\} \d+\n/u);
    expect(text).not.toContain('connections{node="down:5432"}');
  });

  test("are undefined, and have no metrics, without Citus", async () => {
    await own.query("DROP TABLE pg_dist_node, pg_dist_partition");
    expect(await readNodeStates(connection)).toBeUndefined();
    const registry = new Registry();
    collectNodes(registry, connection);
    expect(await registry.metrics()).not.toContain("{");
  });
});
