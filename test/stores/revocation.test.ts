// @engine postgresql
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIdentify, issueToken, listTokens } from "../../src/stores/token.js";
import { createFindKey, issueKey, listKeys, revokeKey } from "../../src/stores/publicKey.js";
import { createStore } from "../../src/stores/store.js";
import { revokeToken, rotateToken } from "../../src/stores/token.replace.js";
import { connect, type OpenDatabase } from "../../src/database/open.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { createMigratedDatabase, type OwnDatabase } from "../support/database/ownDatabase.js";

const app = await openTestApp();

const quiet = () => undefined;
const store = "acme";
/** What Citus says to a write of a table that all nodes have, while one of them is down. */
const nodeDown = `
  CREATE FUNCTION node_down() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE 'connection to the remote node vitrine@db1.internal:5432 failed with the following error: Connection refused'
      USING ERRCODE = '08006';
  END $$;
  CREATE TRIGGER node_down BEFORE INSERT OR UPDATE OR DELETE ON "AccessToken" EXECUTE FUNCTION node_down();
  CREATE TRIGGER node_down BEFORE INSERT OR UPDATE OR DELETE ON "PublicKey" EXECUTE FUNCTION node_down()`;

describe("while tables that all nodes have cannot be written", () => {
  let own: OwnDatabase;
  let database: OpenDatabase;
  let db: OpenDatabase["client"];
  let issued: Awaited<ReturnType<typeof issueToken>>;
  let key: Awaited<ReturnType<typeof issueKey>>;
  beforeAll(async () => {
    own = await createMigratedDatabase("revocation");
    const connection = { connectionString: own.url };
    database = connect({ ...connection, max: 4 }, quiet);
    db = database.client;
    await createStore(db, store, "Acme");
    issued = await issueToken(db, store);
    key = await issueKey(db, store, { origins: ["https://shop.example"] });
    await own.query(nodeDown);
  });
  afterAll(async () => {
    await database.close();
    await own.drop();
  });

  test("a token can be revoked", async () => {
    expect(await createIdentify(db)(issued.token)).toMatchObject({ storeId: store });
    const revokedAt = expect.any(Date);
    const revocation = { revokedAt, replacedBy: null, alsoRevoked: [] };
    expect(await revokeToken(db, store, issued.id)).toEqual(revocation);
    await expect(createIdentify(db)(issued.token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await listTokens(db, store)).toEqual([expect.objectContaining({ id: issued.id, revokedAt })]);
    expect(await revokeToken(db, store, issued.id), "a second time changes nothing").toEqual(revocation);
  });

  test("a public key can be revoked", async () => {
    expect(await createFindKey(db)(key.key)).toMatchObject({ storeId: store });
    const { revokedAt } = await revokeKey(db, store, key.id);
    await expect(createFindKey(db)(key.key)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await listKeys(db, store)).toEqual([expect.objectContaining({ id: key.id, revokedAt })]);
    expect(await revokeKey(db, store, key.id)).toEqual({ revokedAt });
  });

  test("a revoked token cannot be rotated, even once they can be written again", async () => {
    await own.query(`ALTER TABLE "AccessToken" DISABLE TRIGGER node_down`);
    await expect(rotateToken(db, store, issued.id, { graceMs: 0 })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

test("a revocation also revokes the token of an unfinished rotation", async () => {
  const { id: owner } = await createTestStore(app);
  const { id } = await issueToken(app.db, owner);
  let goOn: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const slow = app.db.$extends({
    query: {
      accessToken: {
        create: ({ args, query }) => {
          begin(); // it has found the token valid
          return paused.then(() => query(args));
        },
      },
    },
  });
  const rotating = rotateToken(slow as unknown as typeof app.db, owner, id, { graceMs: 60_000 });
  await Promise.race([begun, rotating]);
  const revoking = revokeToken(app.db, owner, id);
  await expect
    .poll(async () => {
      const [row] = await app.db.$queryRawUnsafe<[{ count: bigint }]>(
        ofTest(`SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
          WHERE a.datname = current_database() AND l.locktype = 'transactionid' AND NOT l.granted
            AND a.query LIKE '%AccessToken%'`),
      );
      return row.count;
    })
    .toBeGreaterThan(0n);
  goOn();
  const { issued } = await rotating;
  expect(await revoking).toEqual({ revokedAt: expect.any(Date), replacedBy: null, alsoRevoked: [issued.id] });
  expect(await listTokens(app.db, owner)).toContainEqual(
    expect.objectContaining({ id: issued.id, revokedAt: expect.any(Date) }),
  );
});
