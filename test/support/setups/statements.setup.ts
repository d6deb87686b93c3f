import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PoolConfig } from "pg";
import type { TestProject } from "vitest/node";
import { connect } from "../../../src/database/open.js";
import { oncePerRun } from "../run/oncePerRun.js";
import { findViolations } from "../citus/violations.js";

/**
 * Has all files of a project write down what they send to the database under test, and looks at it in the end: the run
 * fails for a statement that Citus would not take, or would run on more than one node. A statement of several projects is
 * looked at once: they have the same tables, and most of their statements.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "vt-statements-"));
  project.provide("statementsFolder", folder);
  const lookedAt = await oncePerRun("statements", async () => new Set<string>());
  return async () => {
    const { databases } = project.getProvidedContext();
    if (databases.length === 0) throw new Error("The setup of a database runs before this one.");
    const statements = [...(await takeStatements(folder))];
    // All databases have the same tables: each looks at its share.
    const found = await Promise.all(
      databases.map(({ connection }, place) => {
        const others = statements.filter((_, index) => index % databases.length !== place);
        return violationsOn(connection, statements, new Set([...lookedAt, ...others]));
      }),
    );
    for (const sql of statements) lookedAt.add(sql);
    if (found.flat().length > 0) fail(project.name, found.flat());
  };
}

/** @param known statements that need not be looked at */
async function violationsOn(connection: PoolConfig, statements: readonly string[], known: ReadonlySet<string>) {
  const database = connect(connection, () => undefined);
  try {
    return Object.entries(await findViolations(database.client, statements, known));
  } finally {
    await database.close();
  }
}

/** Reads what was written down, and removes the folder. */
async function takeStatements(folder: string): Promise<Set<string>> {
  try {
    const names = await readdir(folder);
    const files = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
    const lines = files.flatMap((text) => text.split("\n").filter(Boolean));
    return new Set(lines.map((line) => withShortLists(JSON.parse(line) as string))); // recording.ts wrote them
  } finally {
    await rm(folder, { recursive: true });
  }
}

const tuple = String.raw`\((?:\$\d+,? ?)+\)`;
const listOfTuples = new RegExp(`(${tuple}, ?${tuple})(?:, ?${tuple})+`, "gu");
const listOfValues = /\bIN ?\((\$\d+, ?\$\d+)(?:, ?\$\d+)+\)/gu;

/**
 * Leaves two items of lists of parameters, and numbers the parameters anew. PostgreSQL would take seconds to analyze lists of
 * thousands, which come in many lengths.
 */
function withShortLists(sql: string): string {
  const short = sql.replaceAll(listOfTuples, "$1").replaceAll(listOfValues, "IN ($1)");
  if (short === sql) return sql;
  const numbers = new Map<string, string>();
  return short.replaceAll(/\$\d+/gu, (parameter) => {
    const number = numbers.get(parameter) ?? `$${numbers.size + 1}`;
    numbers.set(parameter, number);
    return number;
  });
}

/** Vitest takes no notice of what a teardown throws. */
function fail(project: string, found: readonly (readonly [sql: string, violations: readonly string[]])[]): void {
  const texts = found.map(([sql, violations]) => `  ${violations.join("\n  ")}\n    ${sql.trim().slice(0, 2_000)}`);
  process.stderr.write(`
${project}: statements were sent that would fail on Citus (CONTRIBUTING.md). Those of a test itself are marked by ofTest().
${texts.join("\n")}\n`);
  process.exitCode = 1;
}
