import type { Pool } from "pg";
import { hasCitus } from "../../citus/catalog.sql.js";
import { beingMoved, onNodeFunction } from "../../citus/onNode.sql.js";
import { codeOf, isShardGone, lockNotAvailable } from "../../errors.js";
import { distributedEvents, storeOfEachShard } from "./citus.sql.js";

export type Session = Pick<Pool, "query">;

/**
 * The tables, or on Citus one set of co-located shards. A statement runs on a partition as on whole tables, on its node and
 * without the planner of Citus, which cannot run most of what moves events.
 */
export interface Partition {
  /** @param statement returns rows, and casts each parameter that is not a text; sums and other long numbers are texts */
  query<Row extends object = object>(statement: string, values?: readonly Value[]): Promise<readonly Row[]>;
}

type Value = string | number | null;

export async function isDistributed(session: Session): Promise<boolean> {
  const isTrue = async (sql: string) => (await session.query<{ is: boolean }>(sql)).rows[0]?.is === true;
  return (await isTrue(`SELECT ${hasCitus} AS is`)) && isTrue(distributedEvents);
}

/** To be read anew now and then: shards are split, and stores added. Those without a store have no rows. */
export async function readPartitions(session: Session): Promise<readonly Partition[]> {
  if (!(await isDistributed(session))) return [wholeTables(session)];
  const { rows } = await session.query<{ store: string }>(storeOfEachShard);
  return rows.map(({ store }) => shardsOf(session, store));
}

function wholeTables(session: Session): Partition {
  return {
    query: async <Row extends object>(statement: string, values: readonly Value[] = []) =>
      (await session.query<Row>(statement, [...values])).rows,
  };
}

/** @param store any store of the partition */
function shardsOf(session: Session, store: string): Partition {
  return {
    async query<Row extends object>(statement: string, values: readonly Value[] = []) {
      const tables = [...new Set(statement.match(/"[A-Z]\w*"/gu))];
      const text = statement.replaceAll(/\$(\d+)/gu, (_, number: string) => `($1)[${number}]`);
      const { rows } = await session.query<{ answer: Row }>(
        `SELECT ${onNodeFunction}($1, $2, $3::text[], $4::text[]) AS answer`,
        [store, text, tables, values.map((value) => (value === null ? null : String(value)))],
      );
      return rows.map(({ answer }) => answer);
    },
  };
}

/** Whether an error means that the shards have moved, or are being moved with writes blocked. Nothing was changed. */
export function isPartitionMoving(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (codeOf(error) === lockNotAvailable && error.message.includes(beingMoved)) || isShardGone(error);
}
