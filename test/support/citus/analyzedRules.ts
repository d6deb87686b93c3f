import type { Database } from "../../../src/database/client.js";
import { type AnalyzedNode, type AnalyzedValue, nodesOf } from "./analysis.js";
import { distributedTables, referenceTables } from "./tables.js";

/** What of a database's catalogs the rules ask for. */
export interface Catalog {
  /** Functions that are not IMMUTABLE, by their id. */
  readonly mutable: ReadonlyMap<string, { readonly name: string; readonly isVolatile: boolean }>;
  /** The functions that write a type as text and read it, by the type's id. */
  readonly conversions: ReadonlyMap<string, { readonly output: string; readonly input: string }>;
  /** Tables that are on nodes, by their id. */
  readonly spread: ReadonlyMap<string, { readonly name: string; readonly isReference: boolean }>;
  /** Temporary tables, by their id. */
  readonly local: ReadonlySet<string>;
}

export async function readCatalog(db: Database): Promise<Catalog> {
  const functions = await db.$queryRaw<{ id: string; name: string; isVolatile: boolean }[]>`
    SELECT oid::text AS id, proname::text AS name, provolatile = 'v' AS "isVolatile" FROM pg_proc WHERE provolatile <> 'i'`;
  const types = await db.$queryRaw<{ id: string; output: string; input: string }[]>`
    SELECT oid::text AS id, typoutput::oid::text AS output, typinput::oid::text AS input FROM pg_type`;
  const tables = await db.$queryRaw<{ id: string; name: string; isTemporary: boolean }[]>`
    SELECT oid::text AS id, relname::text AS name, relpersistence = 't' AS "isTemporary" FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace IN ('public'::regnamespace, pg_my_temp_schema())`;
  const distributed = await distributedTables(db);
  const isSpread = (name: string) => distributed.includes(name) || referenceTables.has(name);
  return {
    mutable: new Map(functions.map(({ id, ...rest }) => [id, rest])),
    conversions: new Map(types.map(({ id, ...rest }) => [id, rest])),
    spread: new Map(
      tables
        .filter(({ name, isTemporary }) => !isTemporary && isSpread(name))
        .map(({ id, name }) => [id, { name, isReference: referenceTables.has(name) }]),
    ),
    local: new Set(tables.filter(({ isTemporary }) => isTemporary).map(({ id }) => id)),
  };
}

/** What of a statement Citus refuses for what its functions and operators are, or for tables that are not on nodes. */
export function analyzedViolations(tree: AnalyzedValue, catalog: Catalog): string[] {
  const queries = nodesOf(tree).filter(({ kind }) => kind === "QUERY");
  return [
    ...new Set([
      ...queries.flatMap((query) => changeViolations(query, catalog)),
      ...correlationViolations(tree, [], catalog),
    ]),
  ];
}

const commands: Readonly<Record<string, string>> = { "2": "UPDATE", "3": "INSERT", "4": "DELETE" };

/** Each copy of a row, and each node, must come to the same. */
function changeViolations({ fields }: AnalyzedNode, catalog: Catalog): string[] {
  const command = commands[textOf(fields["commandType"])];
  const target = listOf(fields["rtable"])[Number(textOf(fields["resultRelation"])) - 1];
  const table = catalog.spread.get(tablesIn(target ?? [])[0] ?? "")?.name;
  if (command === undefined || table === undefined) return [];
  const returned = nodesOf(fields["returningList"]);
  const conflicting = nodesOf(fields["onConflict"]);
  const found = [
    ...mutableAmong(conflicting, catalog).map((use) => `ON CONFLICT of ${table} uses ${named(use)}`),
    ...mutableAmong(returned, catalog).map((use) => `RETURNING of ${table} uses ${named(use)}`),
  ];
  if (command === "INSERT") {
    const hasSubquery = [...conflicting, ...returned].some(({ kind }) => kind === "SUBLINK");
    return hasSubquery ? [...found, `INSERT INTO ${table} has a subquery in ON CONFLICT or RETURNING`] : found;
  }
  const changed = [fields["jointree"] ?? [], fields["targetList"] ?? []];
  const isVolatile = mutableAmong(nodesOf(changed), catalog).filter((use) => use.isVolatile);
  const ofColumns = mutableAmong(nodesOf(changed, "QUERY"), catalog).filter((use) => !use.isVolatile && use.ofColumn);
  return [
    ...found,
    ...isVolatile.map((use) => `${command} of ${table} uses ${named(use)}`),
    ...ofColumns.map((use) => `${command} of ${table} uses ${named(use)}, on a column`),
  ];
}

interface MutableUse {
  readonly name: string;
  readonly isVolatile: boolean;
  readonly ofColumn: boolean;
}

function named({ name, isVolatile }: MutableUse): string {
  return `${name}, which is ${isVolatile ? "VOLATILE" : "STABLE"}`;
}

function mutableAmong(nodes: readonly AnalyzedNode[], { mutable, conversions }: Catalog): MutableUse[] {
  return nodes.flatMap((node): MutableUse[] => {
    const clock = { name: "the time or the user", isVolatile: false };
    const used =
      node.kind === "SQLVALUEFUNCTION"
        ? [clock]
        : functionsOf(node, conversions).flatMap((id) => mutable.get(id) ?? []);
    if (used.length === 0) return [];
    const ofColumn = nodesOf(node).some(({ kind }) => kind === "VAR");
    return used.map((each) => ({ ...each, ofColumn }));
  });
}

/** The functions that a node runs by itself; those within it not counted. */
function functionsOf({ kind, fields }: AnalyzedNode, conversions: Catalog["conversions"]): string[] {
  if (kind !== "COERCEVIAIO") return ["funcid", "opfuncid", "aggfnoid", "winfnoid"].map((name) => textOf(fields[name]));
  const [from] = nodesOf(fields["arg"]);
  const type = Object.entries(from?.fields ?? {}).find(([name]) => /^\w*type$/u.test(name))?.[1];
  return [conversions.get(textOf(type))?.output ?? "", conversions.get(textOf(fields["resulttype"]))?.input ?? ""];
}

/**
 * Citus joins tables of nodes with temporary ones by bringing either to the other. A subquery in an expression that depends
 * on what is around it cannot be brought.
 *
 * @param outer ids of the tables of the queries around
 */
function* correlationViolations(value: AnalyzedValue, outer: readonly string[], catalog: Catalog): Generator<string> {
  if (typeof value === "string") return;
  if (Array.isArray(value)) {
    for (const each of value) yield* correlationViolations(each, outer, catalog);
    return;
  }
  const { kind, fields } = value as AnalyzedNode; // what is no text and no list
  if (kind === "SUBLINK" && isCorrelated(fields["subselect"] ?? []) && isMixed(tablesIn(value), outer, catalog)) {
    yield "a correlated subquery stands between a temporary table and one that is on nodes";
  }
  const { cteList = [], rtable = [], ...others } = fields; // subqueries of WITH and FROM can be brought by themselves
  yield* correlationViolations([cteList, rtable], outer, catalog);
  const here = kind === "QUERY" ? [...outer, ...readBy(fields)] : outer;
  yield* correlationViolations(Object.values(others), here, catalog);
}

/** The ids of tables in the FROM of a query, or changed by it. What an INSERT writes to is not around anything. */
function readBy(fields: AnalyzedNode["fields"]): string[] {
  const tables = listOf(fields["rtable"]);
  const isInsert = commands[textOf(fields["commandType"])] === "INSERT";
  return tablesIn(
    isInsert ? tables.filter((_, index) => index !== Number(textOf(fields["resultRelation"])) - 1) : tables,
  );
}

function tablesIn(value: AnalyzedValue): string[] {
  return nodesOf(value).flatMap(({ kind, fields }) => (kind === "RANGETBLENTRY" ? [textOf(fields["relid"])] : []));
}

/** As tried on Citus 13.2, see the tests. */
function isMixed(inner: readonly string[], outer: readonly string[], { spread, local }: Catalog): boolean {
  const isOnNodes = (id: string) => spread.get(id)?.isReference === false;
  const isLocal = (id: string) => local.has(id);
  if (inner.some(isLocal)) return [...inner, ...outer].some(isOnNodes);
  return inner.some(isOnNodes) && outer.some(isLocal) && !outer.some(isOnNodes);
}

function isCorrelated(value: AnalyzedValue, depth = -1): boolean {
  if (typeof value === "string") return false;
  if (Array.isArray(value)) return value.some((each) => isCorrelated(each, depth));
  const { kind, fields } = value as AnalyzedNode; // what is no text and no list
  if (kind === "VAR") return Number(textOf(fields["varlevelsup"])) > depth;
  return isCorrelated(Object.values(fields), kind === "QUERY" ? depth + 1 : depth);
}

function listOf(values: readonly AnalyzedValue[] | undefined): readonly AnalyzedValue[] {
  const [first] = values ?? [];
  return Array.isArray(first) ? first : [];
}

function textOf(values: readonly AnalyzedValue[] | undefined): string {
  const [first] = values ?? [];
  return typeof first === "string" ? first : "";
}
