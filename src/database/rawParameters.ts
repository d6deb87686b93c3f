import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlQuery, SqlQueryable } from "@prisma/driver-adapter-utils";
import type pg from "pg";
import type { DatabaseProbe } from "./client.js";
import { parse } from "postgres-array";

const parameters = new Map<string, string>();
/** Shorter values go through Prisma, which costs less than a placeholder. */
const largeCharacters = 1_000;

/**
 * Keeps large values out of the JSON text into which Prisma serializes raw parameters. `work` passes the placeholders that `bind`
 * returns; until it ends, the adapter below replaces them by the values.
 */
export async function withRawParameters<Result>(
  work: (bind: (value: string) => string) => Promise<Result>,
): Promise<Result> {
  const placeholders: string[] = [];
  const bind = (value: string) => {
    if (value.length < largeCharacters) return value;
    const placeholder = randomUUID(); // clients that send text cannot guess it
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

/** The value for a placeholder of `bind`; any other text is returned unchanged. */
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
      sent.args = []; // Prisma's debug log would keep the values of the last hundred queries: tens of megabytes for an import
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

/** Text that needs no quotes: most URLs and words. */
const plain = /^(?!null$)[\w:/.?=&%#+~-]+$/iu;
const specials = /["\\]/gu;

/** `["a b", "c", null]` gives `{"a b",c,NULL}`. Elements must not contain NUL. */
export function textArrayLiteral(values: readonly (string | null)[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    if (plain.test(value)) return value; // as PostgreSQL writes it; keeps nested literals short
    const isEscaped = value.includes('"') || value.includes("\\"); // faster than a regular expression
    return isEscaped ? `"${value.replace(specials, "\\$&")}"` : `"${value}"`;
  });
  return `{${elements.join(",")}}`;
}

/** Reads literals that PostgreSQL wrote. */
export function parseTextArray(literal: string): (string | null)[] {
  const mayBeSplit = !literal.includes('"') && !literal.includes("NULL") && literal.indexOf("{", 1) < 0;
  if (mayBeSplit && literal.length > 2) return literal.slice(1, -1).split(","); // ten times as fast, and enough for most lists of URLs
  return parse(literal);
}
