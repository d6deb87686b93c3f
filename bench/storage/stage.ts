import { createDatabase, graphql, query, startServer, type BenchServer } from "../server.js";

/** A server, and the database on which it is alone. */
export interface Stage extends BenchServer {
  readonly databaseUrl: string;
}

export async function setStage(): Promise<Stage> {
  const databaseUrl = await createDatabase();
  return { ...(await startServer({ DATABASE_URL: databaseUrl })), databaseUrl };
}

export async function saveShow(stage: Stage, id: string, startedAt: Date, more: object = {}): Promise<void> {
  const liveStream = { id, name: id, status: "LIVE", startedAt: startedAt.toISOString(), ...more };
  await graphql(stage, "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }", { s: liveStream });
}

export const recordOperation =
  "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted duplicates } }";

/**
 * Records batches, each client one after the other.
 *
 * @param onBatch called after each batch with how many there were; its client waits for it
 * @throws {Error} where an event is not accepted
 */
export async function recordAll(
  stage: Stage,
  lsId: string,
  batches: Iterator<object[]>,
  clients: number,
  onBatch: (count: number) => Promise<void> | undefined = () => undefined,
): Promise<number> {
  let [recorded, sent] = [0, 0];
  const client = async () => {
    for (let next = batches.next(); next.done !== true; next = batches.next()) {
      const { recordShopperEvents: receipt } = await graphql(stage, recordOperation, { lsId, events: next.value });
      if (receipt.accepted !== next.value.length) throw new Error(`accepted ${receipt.accepted}`);
      recorded += receipt.accepted;
      sent += 1;
      await onBatch(sent);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return recorded;
}

interface StoredEvents {
  readonly count: number;
  readonly viewers: number;
  /** From the show's start, within which events occurred evenly. */
  readonly minutes: number;
}

/** Inserts events directly into the database, which takes less time, and no figures: `analytics rebuild` finds them. */
export async function storeEvents(
  { databaseUrl, store }: Stage,
  lsId: string,
  { count, viewers, minutes }: StoredEvents,
): Promise<void> {
  await query(
    databaseUrl,
    `INSERT INTO "ShowEvent" ("storeId", show, id, type, channel, "viewerId", device, source, value, "productId", "occurredAt",
       "acceptedAt", position, "orderId", lines)
     SELECT s."storeId", s.number, uuid_send(gen_random_uuid()), (ARRAY[1,1,1,1,1,1,1,1,2,3])[1 + i % 10],
       (ARRAY[1,1,1,2])[1 + i % 4], decode(md5((i % $4::int)::text), 'hex'), (ARRAY['mobile','desktop','tablet'])[1 + i % 3], '',
       CASE i % 10 WHEN 9 THEN (i % 300) + 0.99 WHEN 8 THEN 0 ELSE i % 100 END, CASE i % 10 WHEN 8 THEN 'p' || i % 50 ELSE '' END,
       s."startedAt" + (i::float8 / $3::int * $5::int) * interval '1 minute', s."startedAt" + i / 1000 * interval '1 millisecond',
       i % 1000, '', ''
     FROM "LiveStream" AS s, generate_series(0, $3::int - 1) AS i WHERE s."storeId" = $1 AND s.id = $2`,
    [store, lsId, count, viewers, minutes],
  );
}

/** How full recording leaves an index of random ids. */
const indexFill = 70;

/**
 * Has the work insert rows directly into the database, and makes an index of random ids afterwards, by sorting them once, which then is as
 * full as recording would have left it.
 *
 * @param key columns of the primary key, as SQL
 */
export async function fillTable(
  { databaseUrl }: Stage,
  { table, key }: { readonly table: string; readonly key: string },
  work: () => Promise<void>,
): Promise<void> {
  await query(databaseUrl, `ALTER TABLE "${table}" DROP CONSTRAINT "${table}_pkey"`);
  await work();
  await query(
    databaseUrl,
    `ALTER TABLE "${table}" ADD CONSTRAINT "${table}_pkey" PRIMARY KEY (${key}) WITH (fillfactor = ${indexFill})`,
  );
  await query(databaseUrl, `ALTER INDEX "${table}_pkey" RESET (fillfactor)`);
  await query(databaseUrl, `VACUUM ANALYZE "${table}"`);
}

export const eventTable = { table: "ShowEvent", key: '"storeId", show, id' };
const viewerTable = { table: "ShowViewer", key: '"storeId", show, "viewerId"' };

/** Writes the rows of so many viewers, as storeEvents names them, directly into the database. */
export async function storeViewers(stage: Stage, lsId: string, count: number): Promise<void> {
  await fillTable(stage, viewerTable, async () => {
    await query(
      stage.databaseUrl,
      `INSERT INTO "ShowViewer" ("storeId", show, "viewerId", hour, minutes, "newMinutes", seen, "newSeen", "liveDevice",
         "replayDevice", source)
       SELECT s."storeId", s.number, decode(md5(i::text), 'hex'), extract(epoch FROM s."startedAt")::int / 3600, 1, 1, 1, 1, 'mobile', '', ''
       FROM "LiveStream" AS s, generate_series(0, $3::int - 1) AS i WHERE s."storeId" = $1 AND s.id = $2`,
      [stage.store, lsId, count],
    );
  });
}
