import type { RootDatabase } from "../../../src/database/client.js";
import { inRolledBackTransaction } from "../../../src/database/transaction.js";
import { analyze, createAnalyzer } from "./analysis.js";
import { analyzedViolations, readCatalog } from "./analyzedRules.js";
import { readExempt } from "./exempt.js";
import { createsTemporary, isQuery, parseStatements, type Statement, statementViolations } from "./statementRules.js";
import { distributedTables } from "./tables.js";

const timeoutMs = 10 * 60_000; // thousands of statements, one by one

/**
 * What in statements would not run on one node of Citus, or not at all: lines by statement, none for what is right.
 *
 * @param db where the tables are, which need not be on nodes. The temporary ones of the statements are made there for a moment
 * @param known statements that need not be looked at again; others may use the temporary tables that they make
 */
export async function findViolations(
  db: RootDatabase,
  statements: Iterable<string>,
  known: ReadonlySet<string> = new Set(),
): Promise<Record<string, string[]>> {
  return inRolledBackTransaction(db, { timeoutMs }, async (transaction) => {
    const tables = await distributedTables(transaction);
    await createAnalyzer(transaction);
    const looked = new Map<string, Statement[]>();
    const isExempt = await readExempt();
    for (const sql of statements) if (!isExempt(sql)) looked.set(sql, await parseStatements(sql));
    for (const [sql, parsed] of looked) if (parsed.some(createsTemporary)) await transaction.$executeRawUnsafe(sql);
    const catalog = await readCatalog(transaction);
    const found: Record<string, string[]> = {};
    for (const [sql, parsed] of looked) {
      if (known.has(sql)) continue;
      const violations = parsed.flatMap((statement) => statementViolations(sql, statement, tables));
      if (parsed.every(isQuery)) {
        const tree = await analyze(transaction, sql).catch(String);
        violations.push(...(typeof tree === "string" ? [tree] : analyzedViolations(tree, catalog)));
      }
      if (violations.length > 0) found[sql] = violations;
    }
    return found;
  });
}
