import type { Prisma } from "../../generated/prisma/client.js";
import { textArrayLiteral } from "../sql/arrayLiteral.js";
import type { Database } from "../client.js";
import { boundValue, withRawParameters } from "../rawParameters.js";
import { onNodeFunction } from "./onNode.sql.js";

/** Names of tables; those of columns begin with a small letter. */
const tableNames = /"([A-Z]\w*)"/gu;

/**
 * Sends a statement of `queryStore` to the store's node, which runs it as a whole, as PostgreSQL would: see onNode.sql.ts.
 * Moving a store with `block_writes` does not hold it up for other stores, as it does what Citus plans by itself: for
 * INSERT … SELECT that takes the locks of all shards of the table.
 */
export async function queryOnNode<Row extends object>(
  db: Database,
  storeId: string,
  statement: Prisma.Sql,
  dates: readonly (keyof Row)[],
): Promise<Row[]> {
  const { text, parameters } = withTextParameters(statement);
  const tables = [...new Set(text.match(tableNames))];
  const rows = await withRawParameters((bind) =>
    db.$queryRawUnsafe<{ answer: Row }[]>(
      `SELECT ${onNodeFunction}($1, $2, $3::text[], $4::text[]) AS answer`,
      storeId,
      text,
      textArrayLiteral(tables),
      bind(textArrayLiteral(parameters)),
    ),
  );
  return rows.map(({ answer }) => withDates(answer, dates));
}

/** The statement with elements of one array of texts as its parameters, each value once. */
function withTextParameters({ strings, values }: Prisma.Sql) {
  const numbers = new Map<unknown, number>();
  let text = strings[0] ?? "";
  values.forEach((value, index) => {
    const number = numbers.get(value) ?? numbers.size + 1;
    numbers.set(value, number);
    text += `($1)[${number}]${typeof value === "number" ? "::int" : ""}${strings[index + 1] ?? ""}`;
  });
  return { text, parameters: [...numbers.keys()].map(textOf) };
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "string") return boundValue(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isInteger(value))) return String(value);
  throw new TypeError("Parameters are texts, whole numbers, booleans and times.");
}

function withDates<Row extends object>(row: Row, names: readonly (keyof Row)[]): Row {
  const dates = names.map((name) => [name, row[name] === null ? null : new Date(String(row[name]))]);
  return { ...row, ...Object.fromEntries(dates) };
}
