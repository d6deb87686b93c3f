import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";
import type pg from "pg";
import type { DatabaseProbe } from "./probe.js";

const parked = new Map<string, string>();

/**
 * Keeps large values of statements past Prisma, which would write all parameters of a raw statement into one JSON text
 * and read them back. `work` puts what `park` returns where the value would stand; until it ends, the adapter below
 * exchanges one for the other.
 */
export async function withParked<Result>(work: (park: (value: string) => string) => Promise<Result>): Promise<Result> {
  const tickets: string[] = [];
  const park = (value: string) => {
    const ticket = randomUUID(); // nobody who sends text can guess it
    tickets.push(ticket);
    parked.set(ticket, value);
    return ticket;
  };
  try {
    return await work(park);
  } finally {
    for (const ticket of tickets) parked.delete(ticket);
  }
}

/** Prisma's adapter for pg, which puts parked values into statements, and can be watched. */
export class UnparkingPrismaPg extends PrismaPg {
  readonly probe: DatabaseProbe;

  constructor(pool: pg.Pool, options: ConstructorParameters<typeof PrismaPg>[1]) {
    super(pool, options);
    this.probe = { pool, waiting: () => pool.waitingCount, aroundQuery: undefined };
  }

  override async connect() {
    const adapter = unparking(await super.connect(), this.probe);
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => unparking(await startTransaction(isolationLevel), this.probe);
    return adapter;
  }
}

function unparking<Queryable extends SqlQueryable>(queryable: Queryable, probe: DatabaseProbe): Queryable {
  const queryRaw = queryable.queryRaw.bind(queryable);
  const executeRaw = queryable.executeRaw.bind(queryable);
  const watched = <Result>(query: SqlQuery, send: (query: SqlQuery) => Promise<Result>): Promise<Result> => {
    const sent = withValues(query);
    return probe.aroundQuery === undefined ? send(sent) : probe.aroundQuery(query.sql, () => send(sent));
  };
  queryable.queryRaw = (query) => watched(query, queryRaw);
  queryable.executeRaw = (query) => watched(query, executeRaw);
  return queryable;
}

function withValues(query: SqlQuery): SqlQuery {
  if (parked.size === 0) return query;
  return { ...query, args: query.args.map((arg) => (typeof arg === "string" ? (parked.get(arg) ?? arg) : arg)) };
}
