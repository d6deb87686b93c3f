// Loaded into processes of the program by tests (--import, see ../process.ts): has each thread write down the statements
// that it sends, for statements.setup.ts. The folder stands in the query of this file's URL.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = new URL(import.meta.url).searchParams.get("folder") ?? "";

// Other threads read files, or are the database.
if (isMainThread) {
  const { default: pg } = await import("pg");
  const recorded = new Set();
  const query = Reflect.get(pg.Client.prototype, "query");
  pg.Client.prototype.query = function recordedQuery(...args) {
    const sql = typeof args[0] === "string" ? args[0] : args[0].text;
    if (!recorded.has(sql)) {
      recorded.add(sql);
      appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(sql)}\n`);
    }
    return Reflect.apply(query, this, args);
  };
}
