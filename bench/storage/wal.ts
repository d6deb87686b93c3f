import pg from "pg";
import { closeLater } from "../resources.js";
import { createDatabase, query } from "../server.js";

/** Bytes of the log, and how many of these are images of whole pages. */
interface Logged {
  readonly total: number;
  readonly fullPages: number;
}

export interface WalReader {
  /** Reads what was written since the last call, and lets PostgreSQL recycle it. */
  read(): Promise<void>;
  /** Reads the rest. @returns by name of the table or index */
  end(): Promise<ReadonlyMap<string, Logged>>;
}

/**
 * Reads the log itself with PostgreSQL's pg_walinspect, since pg_current_wal_lsn counts what all databases of the server
 * write. After a CHECKPOINT, so that the first change of each page that was there before is logged as an image of the page.
 * From a database of its own: a statement that takes its time keeps old versions of rows where it runs.
 *
 * @throws {Error} where the extension, a replication slot, or the right to them is missing
 */
export async function readWal(databaseUrl: string): Promise<WalReader> {
  const client = new pg.Client({ connectionString: await createDatabase() });
  await client.connect();
  const close = closeLater(() => client.end());
  const [{ oid }] = await query(databaseUrl, "SELECT oid FROM pg_database WHERE datname = current_database()");
  await client.query("CREATE EXTENSION IF NOT EXISTS pg_walinspect");
  await client.query("CHECKPOINT");
  // Keeps the log until it is read, and ends with the connection.
  const slot = `vitrine_bench_${process.pid}`;
  await client.query("SELECT pg_create_physical_replication_slot($1, true, true)", [slot]);
  const position = async (): Promise<string> =>
    (await client.query("SELECT pg_current_wal_flush_lsn()::text AS lsn")).rows[0].lsn;
  const bytes = new Map<number, Logged>();
  let [from, reading] = [await position(), Promise.resolve()];
  const readOn = async () => {
    const until = await position();
    if (until === from) return;
    const { rows } = await client.query(walByFile, [from, until, oid]);
    for (const { file, total, images } of rows) {
      const known = bytes.get(file) ?? { total: 0, fullPages: 0 };
      bytes.set(file, { total: known.total + Number(total), fullPages: known.fullPages + Number(images) });
    }
    from = until;
    await client.query("SELECT pg_replication_slot_advance($1, $2::pg_lsn)", [slot, from]);
  };
  const read = () => {
    reading = reading.then(readOn);
    return reading;
  };
  const end = async () => {
    await read();
    await close();
    const relations = await query(databaseUrl, "SELECT relname, pg_relation_filenode(oid) AS file FROM pg_class");
    const none = { total: 0, fullPages: 0 };
    return new Map(relations.map(({ relname, file }) => [relname, bytes.get(file) ?? none]));
  };
  return { read, end };
}

/** A record belongs to the relation of its first block; commits and the like, some 40 bytes each, to none. */
const walByFile = `
  SELECT file, sum(record_length) AS total, sum(fpi_length) AS images
  FROM (
    SELECT substring(block_ref FROM 'rel [0-9]+/[0-9]+/([0-9]+)')::int8::oid AS file, record_length, fpi_length
    FROM pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) WHERE block_ref LIKE '%/' || $3::text || '/%') AS records
  GROUP BY file`;
