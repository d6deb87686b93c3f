import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";
import type pg from "pg";
import type { DatabaseProbe } from "./client.js";

const parameters = new Map<string, string>();
/** Shorter values take Prisma's way: it costs less than a placeholder. */
const largeCharacters = 1_000;

/**
 * Keeps large values out of the one JSON text into which Prisma serializes raw parameters. `work` passes what `bind`
 * returns; until it ends, the adapter below replaces that by the value.
 */
export async function withRawParameters<Result>(
  work: (bind: (value: string) => string) => Promise<Result>,
): Promise<Result> {
  const placeholders: string[] = [];
  const bind = (value: string) => {
    if (value.length < largeCharacters) return value;
    const placeholder = randomUUID(); // cannot be guessed by clients that send text
    placeholders.push(placeholder);
    parameters.set(placeholder, value);
    return placeholder;
  };
  try {
    return await work(bind);
  } finally {
    for (const placeholder of placeholders) parameters.delete(placeholder);
  }
}

/** What `bind` was given, for one of its placeholders; any other text itself. */
export function boundValue(text: string): string {
  return parameters.get(text) ?? text;
}

export class RawParameterPrismaPg extends PrismaPg {
  readonly probe: DatabaseProbe;

  constructor(pool: pg.Pool, options: ConstructorParameters<typeof PrismaPg>[1]) {
    super(pool, options);
    this.probe = { pool, waiting: () => pool.waitingCount, aroundQuery: undefined, onError: () => undefined };
  }

  override async connect() {
    const adapter = withBoundParameters(await super.connect(), this.probe);
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = startTransaction(isolationLevel);
      transaction.catch((error: unknown) => this.probe.onError(error));
      return withBoundParameters(await transaction, this.probe);
    };
    return adapter;
  }
}

function withBoundParameters<Queryable extends SqlQueryable>(queryable: Queryable, probe: DatabaseProbe): Queryable {
  const queryRaw = queryable.queryRaw.bind(queryable);
  const executeRaw = queryable.executeRaw.bind(queryable);
  const watched = async <Result>(query: SqlQuery, send: (query: SqlQuery) => Promise<Result>): Promise<Result> => {
    const sent = withValues(query);
    try {
      return await (probe.aroundQuery === undefined ? send(sent) : probe.aroundQuery(query.sql, () => send(sent)));
    } catch (error) {
      probe.onError(error);
      throw error;
    } finally {
      sent.args = []; // Prisma's debug log would keep those of the last hundred queries, tens of megabytes of an import
    }
  };
  queryable.queryRaw = (query) => watched(query, queryRaw);
  queryable.executeRaw = (query) => watched(query, executeRaw);
  return queryable;
}

function withValues(query: SqlQuery): SqlQuery {
  if (parameters.size === 0) return { ...query };
  return { ...query, args: query.args.map((arg) => (typeof arg === "string" ? boundValue(arg) : arg)) };
}
