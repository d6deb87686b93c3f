import type { Database } from "../../../src/database/client.js";
import { ofTest } from "./recording.js";

/** A node of a statement as PostgreSQL understood it: names are looked up, types are known. */
export interface AnalyzedNode {
  readonly kind: string;
  readonly fields: Readonly<Record<string, readonly AnalyzedValue[]>>;
}

export type AnalyzedValue = string | AnalyzedNode | readonly AnalyzedValue[];

/**
 * Has PostgreSQL analyze a statement, as it does for the body of a function, and reads what it made of it. Nothing is run.
 * Needs createAnalyzer in the same transaction, which should be rolled back.
 *
 * @throws where PostgreSQL does not understand the statement; the transaction can go on
 */
export async function analyze(db: Database, sql: string): Promise<AnalyzedValue> {
  const call = ofTest("SELECT tree, problem FROM pg_temp.analyzed($1)");
  const [row] = await db.$queryRawUnsafe<[{ tree: string | null; problem: string | null }]>(call, sql);
  if (row.tree === null) throw new Error(row.problem ?? "There is no tree.");
  return readTree(row.tree);
}

/** Parameters become nulls of their types: a function may have a hundred at most. */
export async function createAnalyzer(db: Database): Promise<void> {
  await db.$executeRawUnsafe(
    ofTest(`CREATE FUNCTION pg_temp.analyzed(sql text, OUT tree text, OUT problem text) LANGUAGE plpgsql AS $analyzer$
    DECLARE
      types regtype[];
    BEGIN
      EXECUTE 'PREPARE looked_at AS ' || sql;
      SELECT parameter_types INTO types FROM pg_prepared_statements WHERE name = 'looked_at';
      EXECUTE 'DEALLOCATE looked_at';
      FOR number IN REVERSE cardinality(types) .. 1 LOOP
        sql := replace(sql, '$' || number, format('CAST(NULL AS %s)', types[number]));
      END LOOP;
      EXECUTE format('CREATE FUNCTION pg_temp.looked_at() RETURNS void LANGUAGE sql BEGIN ATOMIC %s; END', sql);
      SELECT prosqlbody::text INTO tree FROM pg_proc
        WHERE proname = 'looked_at' AND pronamespace = pg_my_temp_schema();
      DROP FUNCTION pg_temp.looked_at;
    EXCEPTION WHEN OTHERS THEN
      problem := SQLERRM;
    END $analyzer$`),
  );
}

/** All nodes of a tree, each before those within it. @param except nodes of this kind, and what is within them */
export function nodesOf(value: AnalyzedValue = [], except?: string): AnalyzedNode[] {
  const nodes: AnalyzedNode[] = [];
  const collect = (within: AnalyzedValue) => {
    if (typeof within === "string") return;
    if (Array.isArray(within)) return within.forEach(collect);
    const node = within as AnalyzedNode; // what is no text and no list
    if (node.kind === except) return;
    nodes.push(node);
    Object.values(node.fields).forEach(collect);
  };
  collect(value);
  return nodes;
}

const token = /[{}()]|"(?:\\.|[^"\\])*"|(?:\\.|[^\s(){}\\])+/gsu;

/** `{KIND :field value :other (value value)}`, as src/backend/nodes/outfuncs.c of PostgreSQL writes it. */
function readTree(text: string): AnalyzedValue {
  const tokens = text.match(token) ?? [];
  let place = 0;
  const read = (): AnalyzedValue => {
    const first = tokens[place++] ?? "";
    if (first === "(") return readList();
    return first === "{" ? readNode() : first;
  };
  const readList = (): AnalyzedValue[] => {
    const list: AnalyzedValue[] = [];
    while (place < tokens.length && tokens[place] !== ")") list.push(read());
    place += 1;
    return list;
  };
  const readNode = (): AnalyzedNode => {
    const fields: Record<string, AnalyzedValue[]> = {};
    const kind = tokens[place++] ?? "";
    let values: AnalyzedValue[] = [];
    while (place < tokens.length && tokens[place] !== "}") {
      const next = tokens[place] ?? "";
      if (next.startsWith(":")) {
        values = fields[next.slice(1)] = [];
        place += 1;
      } else values.push(read());
    }
    place += 1;
    return { kind, fields };
  };
  return read();
}
