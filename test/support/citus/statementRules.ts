import { parse } from "libpg-query";
import { distributionColumn } from "./tables.js";

/** A node of PostgreSQL's parse tree: an object of one member, named for its kind. */
type Node = Readonly<Record<string, any>>;

/** A table or subquery of one FROM, under the name by which columns are taken from it. */
interface Source {
  readonly alias: string;
  /** Set for distributed tables. */
  readonly table: string | undefined;
  /** Whether its store is told: by a parameter, or by being that of another source that is told. */
  isBound: boolean;
}

/** Statements that Citus takes, but does not pass on to nodes, and why no harm comes of it. */
const allowed: ReadonlyMap<string, string> = new Map([
  ["DISCARD PLANS", "Plans of the coordinator's prepared statements."],
  ["SET statement_timeout = 0", "Of the coordinator is meant, by migrations and by distribute."],
  ["SET citus.propagate_set_commands = 'local'", "By it distribute has Citus pass on what is SET LOCAL after it."],
]);

/** A statement, taken apart: an object of one member, named for its kind, such as `SelectStmt`. */
export type Statement = Node;

export async function parseStatements(sql: string): Promise<Statement[]> {
  const { stmts = [] } = (await parse(sql)) as { stmts?: { stmt: Statement }[] };
  return stmts.map(({ stmt }) => stmt);
}

export function isQuery(statement: Statement): boolean {
  return /^(?:Select|Insert|Update|Delete)Stmt$/u.test(kindOf(statement));
}

export function createsTemporary(statement: Statement): boolean {
  return statement["CreateStmt"]?.relation.relpersistence === "t";
}

/**
 * What in a statement would not run on one node of Citus, as far as its text tells: one line for each violation.
 * Each use of a distributed table must be restricted to one store, in the same part of the statement.
 */
export function statementViolations(sql: string, statement: Statement, tables: readonly string[]): string[] {
  const found: string[] = [];
  const { DeclareCursorStmt } = statement;
  refuseSimpleCase(statement, { tables, found });
  if (isQuery(statement)) checkQuery(statement, [], { tables, found });
  else if (DeclareCursorStmt !== undefined) checkQuery(DeclareCursorStmt["query"], [], { tables, found });
  else if (!isTaken(statement) && !allowed.has(sql)) {
    found.push(`${kindOf(statement)} is not known to work on Citus`);
  }
  return found;
}

/** Statements that are no queries, and that work on Citus as elsewhere. */
function isTaken(statement: Statement): boolean {
  const { VariableSetStmt, TransactionStmt, ListenStmt, FetchStmt, VacuumStmt } = statement;
  if (FetchStmt !== undefined) return true; // of a cursor, which is the coordinator's
  if (ListenStmt !== undefined) return true; // of the coordinator, where NOTIFY is sent too
  if (VacuumStmt !== undefined) return VacuumStmt["is_vacuumcmd"] !== true; // ANALYZE, which Citus passes on to all nodes
  return createsTemporary(statement) || TransactionStmt !== undefined || VariableSetStmt?.is_local === true;
}

function kindOf(statement: Statement): string {
  return Object.keys(statement)[0] ?? "";
}

interface Check {
  readonly tables: readonly string[];
  readonly found: string[];
}

function checkQuery(node: Node, outer: readonly Source[], check: Check): void {
  const { SelectStmt, InsertStmt, UpdateStmt, DeleteStmt } = node;
  if (SelectStmt !== undefined) checkSelect(SelectStmt, outer, check);
  else if (InsertStmt !== undefined) checkInsert(InsertStmt, outer, check);
  else if (UpdateStmt !== undefined) checkChange("UPDATE", UpdateStmt, UpdateStmt.fromClause ?? [], outer, check);
  else if (DeleteStmt !== undefined) checkChange("DELETE", DeleteStmt, DeleteStmt.usingClause ?? [], outer, check);
}

/** Looks for queries within expressions. */
function checkChildren(node: unknown, outer: readonly Source[], check: Check): void {
  if (typeof node !== "object" || node === null) return;
  for (const [name, child] of Object.entries(node)) {
    if (/^(?:Select|Insert|Update|Delete)Stmt$/u.test(name)) checkQuery({ [name]: child }, outer, check);
    else checkChildren(child, outer, check);
  }
}

/**
 * Citus evaluates what has no columns before it passes a statement on, and takes the placeholder in `CASE x WHEN 1` for NULL.
 */
function refuseSimpleCase(node: unknown, check: Check): void {
  if (typeof node !== "object" || node === null) return;
  for (const [name, child] of Object.entries(node)) {
    if (name === "CaseExpr" && child.arg !== undefined) check.found.push("CASE compares a value: use CASE WHEN … = …");
    refuseSimpleCase(child, check);
  }
}

function checkSelect(select: Node, outer: readonly Source[], check: Check): void {
  for (const side of ["larg", "rarg"]) if (select[side] !== undefined) checkSelect(select[side], outer, check);
  const { larg: _, rarg: __, ...own } = select;
  const sources = boundSources(own, outer, check);
  report("SELECT", sources, check);
  checkChildren(own, [...sources, ...outer], check);
}

function checkInsert(insert: Node, outer: readonly Source[], check: Check): void {
  const table: string = insert["relation"].relname;
  const { selectStmt, onConflictClause, cols = [] } = insert as any;
  if (check.tables.includes(table)) {
    const key = distributionColumn(table);
    const place = cols.findIndex(({ ResTarget }: Node) => ResTarget.name === key);
    const { valuesLists, targetList } = selectStmt?.SelectStmt ?? {};
    const given: Node[] = valuesLists?.map(({ List }: Node) => List.items[place]) ?? [
      targetList?.[place]?.ResTarget.val,
    ];
    if (insert["withClause"] !== undefined)
      check.found.push(`INSERT INTO ${table} comes after WITH: Citus does not rewrite it`);
    const rows = boundSources(selectStmt?.SelectStmt ?? {}, outer, check);
    const isGiven = (value: Node | undefined) => isConstant(value) || sourceOf(value, rows)?.isBound === true;
    if (place < 0 || !given.every(isGiven)) check.found.push(`INSERT INTO ${table} does not give its ${key}`);
    else if (valuesLists === undefined && !given.every((value) => sourceOf(value, rows)?.isBound === true)) {
      check.found.push(`INSERT INTO ${table} is pulled to the coordinator: take its ${key} from a row of its node`);
    }
    checkConflict(table, onConflictClause, check);
  }
  checkChildren(insert, outer, check);
}

/** The sources of a SELECT, and which of them are restricted to one store: a row may be put beside the one whose store it takes. */
function boundSources(select: Node, outer: readonly Source[], check: Check): readonly Source[] {
  const conditions = conjuncts(select["whereClause"]);
  const sources = sourcesOf(select["fromClause"] ?? [], conditions, check);
  bind(sources, conditions, outer);
  return sources;
}

function checkConflict(table: string, conflict: Node | undefined, check: Check): void {
  if (conflict === undefined) return;
  const names = (conflict["infer"]?.indexElems ?? []).map(({ IndexElem }: Node) => IndexElem.name);
  // Without a target any constraint may be meant, and a deferrable one may not be.
  if (table === "Product" && !names.includes("storeId"))
    check.found.push("ON CONFLICT of Product names no primary key");
  refuseMoves("ON CONFLICT", table, conflict["targetList"], check);
}

function checkChange(
  verb: string,
  change: Node,
  others: readonly Node[],
  outer: readonly Source[],
  check: Check,
): void {
  const { relation, whereClause, targetList } = change as any;
  const conditions = conjuncts(whereClause);
  const sources = sourcesOf([{ RangeVar: relation }, ...others], conditions, check);
  bind(sources, conditions, outer);
  report(verb, sources, check);
  if (check.tables.includes(relation.relname)) refuseMoves(verb, relation.relname, targetList, check);
  checkChildren(change, [...sources, ...outer], check);
}

function refuseMoves(verb: string, table: string, targets: Node[] | undefined, check: Check): void {
  const key = distributionColumn(table);
  if (targets?.some(({ ResTarget }) => ResTarget.name === key)) check.found.push(`${verb} changes ${table}.${key}`);
}

/** The tables and subqueries of a FROM; what joins are ON is added to the conditions. */
function sourcesOf(nodes: readonly Node[], conditions: Node[], check: Check): Source[] {
  return nodes.flatMap((node): Source[] => {
    const { RangeVar, JoinExpr, RangeSubselect, RangeFunction } = node;
    if (JoinExpr !== undefined) {
      conditions.push(...conjuncts(JoinExpr.quals));
      return sourcesOf([JoinExpr.larg, JoinExpr.rarg], conditions, check);
    }
    const { alias } = RangeVar ?? RangeSubselect ?? RangeFunction ?? {};
    const table = check.tables.includes(RangeVar?.relname) ? RangeVar.relname : undefined;
    return [{ alias: alias?.aliasname ?? RangeVar?.relname ?? "", table, isBound: false }];
  });
}

/** Follows `key = parameter` and `key = key of a bound source` until nothing more is bound. */
function bind(sources: readonly Source[], conditions: readonly Node[], outer: readonly Source[]): void {
  const pairs = conditions.flatMap(({ A_Expr }) =>
    A_Expr?.kind === "AEXPR_OP" && lastName(A_Expr.name) === "=" ? [[A_Expr.lexpr, A_Expr.rexpr] as const] : [],
  );
  for (let goesOn = true; goesOn;) {
    goesOn = false;
    for (const [left, right] of [...pairs, ...pairs.map(([a, b]) => [b, a] as const)]) {
      const source = sourceOf(left, sources);
      if (source === undefined || source.isBound) continue;
      source.isBound = isConstant(right) || sourceOf(right, [...sources, ...outer])?.isBound === true;
      goesOn ||= source.isBound;
    }
  }
}

function report(verb: string, sources: readonly Source[], check: Check): void {
  for (const { table, isBound } of sources) {
    if (table !== undefined && !isBound)
      check.found.push(`${verb} on ${table} is not restricted to one ${distributionColumn(table)}`);
  }
}

/** The source whose distribution column this is. Without an alias it is that of the one source that has it. */
function sourceOf(node: Node | undefined, sources: readonly Source[]): Source | undefined {
  const names: string[] = (node?.["ColumnRef"]?.fields ?? []).map(({ String: name }: Node) => name?.sval);
  const [alias, column] = [names.at(-2), names.at(-1)];
  return sources.find(
    (source) =>
      source.table !== undefined &&
      distributionColumn(source.table) === column &&
      (alias === undefined || alias === source.alias),
  );
}

function conjuncts(node: Node | undefined): Node[] {
  if (node?.["BoolExpr"]?.boolop === "AND_EXPR") return node["BoolExpr"].args.flatMap(conjuncts);
  return node === undefined ? [] : [node];
}

function isConstant(node: Node | undefined): boolean {
  const { arg } = node?.["TypeCast"] ?? node?.["CollateClause"] ?? {};
  if (arg !== undefined) return isConstant(arg);
  return node?.["ParamRef"] !== undefined || node?.["A_Const"] !== undefined;
}

function lastName(names: Node[] | undefined): string {
  return names?.at(-1)?.["String"]?.sval ?? "";
}
