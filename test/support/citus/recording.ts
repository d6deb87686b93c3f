import { appendFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const marker = "/* of a test */";

/** Marks a statement that a test sends, and Vitrine never does: it may do what it likes. */
export function ofTest(sql: string): string {
  return `${marker} ${sql}`;
}

export function isOfTest(sql: string): boolean {
  return sql.startsWith(marker);
}

/** By folder. Texts that come again are not put together anew: each would be hashed again. */
const recordedIn = new Map<string, Set<string>>();

/** Writes down a statement that a test had sent to a database, once: statements.setup.ts looks at all of them in the end. */
export function recordStatement(folder: string, sql: string): void {
  const recorded = recordedIn.get(folder) ?? new Set();
  if (recorded.has(sql)) return;
  recordedIn.set(folder, recorded.add(sql));
  appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(sql)}\n`);
}

/** pg's client, which also passes the text of each statement to `onStatement`. */
export function observedClient(onStatement: (sql: string) => void): typeof pg.Client {
  return class ObservedClient extends pg.Client {
    override query(...args: any[]): any {
      const [first] = args;
      onStatement(typeof first === "string" ? first : first.text);
      return (super.query as (...all: any[]) => any)(...args);
    }
  };
}
