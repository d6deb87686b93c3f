// Writes the next migration from what changed in schema.prisma since the last commit:
//   npm run migration -- add_price_lists
// Look at the result and add what Prisma cannot express (see the first migration) before you commit both.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { openSchemaEngine } from "../src/database/migrations/migrate.js";

const schemaPath = "prisma/schema.prisma";
const name = process.argv[2];
if (name === undefined || !/^[a-z0-9_]+$/u.test(name)) {
  throw new Error("Usage: npm run migration -- name_in_snake_case");
}

const engine = await openSchemaEngine({
  provider: "postgres",
  adapterName: "none",
  connect: noDatabase,
  connectToShadowDb: noDatabase,
});
const before = committedSchema();
const { stdout } = await engine.diff({
  from: before === undefined ? { tag: "empty" } : datamodel(before),
  to: datamodel(readFileSync(schemaPath, "utf8")),
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
});
if (stdout === null) throw new Error("The schema engine gave no script.");

const stamp = new Date().toISOString().replaceAll(/\D/gu, "").slice(0, 14);
const folder = `prisma/migrations/${stamp}_${name}`;
mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/migration.sql`, stdout);
process.stdout.write(`${folder}/migration.sql\n`);

/** The engine wants a connection before it compares two files, and then asks it only for the server's version. */
function noDatabase(): Promise<SqlDriverAdapter> {
  return Promise.resolve({
    provider: "postgres",
    adapterName: "none",
    queryRaw: () => Promise.resolve({ columnNames: [], columnTypes: [], rows: [] }),
    executeRaw: () => Promise.resolve(0),
    executeScript: () => Promise.resolve(),
    startTransaction: () => Promise.reject(new Error("Comparing two files needs no transaction.")),
    dispose: () => Promise.resolve(),
  });
}

function datamodel(content: string) {
  return { tag: "schemaDatamodel" as const, files: [{ path: "schema.prisma", content }] };
}

function committedSchema(): string | undefined {
  try {
    return execFileSync("git", ["show", `HEAD:${schemaPath}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return undefined; // the very first one
  }
}
