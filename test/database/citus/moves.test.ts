import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { recordEvents } from "../../../src/analytics/events/events.record.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { distribute } from "../../../src/database/migrations/distribute.js";
import { connect, type OpenDatabase } from "../../../src/database/open.js";
import { forStore } from "../../../src/database/shares/forStore.js";
import { nodesOf } from "../../../src/database/engine.js";
import { fakeCitus } from "../../support/citus/fakeCitus.js";
import { asInputs, expectedFigures, figuresOf, newShow, type ShowKey, someEvents } from "../../support/figures.js";
import type { SentEvent } from "../../support/oracle.js";
import { createMigratedDatabase, type OwnDatabase } from "../../support/database/ownDatabase.js";
import { until } from "../../support/until.js";
import { products } from "../../support/products.js";

const quiet = () => undefined;
/** The one shard of the stand-in. */
const shard = 102008;

describe.runIf(process.env["TEST_DATABASE_URL"] !== undefined)("while a store is moved with its writes blocked", () => {
  let own: OwnDatabase;
  let database: OpenDatabase;
  let mover: pg.Client;
  let show: ShowKey;

  beforeAll(async () => {
    own = await createMigratedDatabase("moves");
    const connection = { connectionString: own.url };
    await own.query(fakeCitus);
    await distribute(connection, quiet);
    database = connect({ ...connection, max: 4 }, quiet);
    mover = new pg.Client(connection);
    await mover.connect();
  });
  afterAll(async () => {
    await mover.end();
    await database.close();
    await own.drop();
  });
  beforeEach(async () => {
    show = await newShow(database.client);
    await until(
      () => nodesOf(database.client)?.runStatements(show.storeId) === true,
      "the store's node to run statements",
    );
    await send(someEvents(3)); // names of the show are kept
  });

  const db = () => forStore(database.client, show.storeId);
  const send = (events: readonly SentEvent[]) => recordEvents(db(), show.storeId, show.lsId, asInputs(events));
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

  test("a batch is refused after 5 seconds, and stored nowhere", async () => {
    await beginMove();
    const begun = performance.now();
    try {
      await expect(send(someEvents(10).slice(5))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    } finally {
      await endMove();
    }
    expect(performance.now() - begun).toBeGreaterThan(4_900);
    expect(await figuresOf(database.client, show)).toEqual(expectedFigures(someEvents(3)));
  });
});
