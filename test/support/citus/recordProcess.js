// Loaded into processes of the program by tests (--import, see ../process.ts): has each thread write down the statements
// that it sends, for statements.setup.ts. The folder stands in the query of this file's URL.
import { appendFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = new URL(import.meta.url).searchParams.get("folder") ?? "";

// Other threads read files, or are the database.
if (isMainThread) {
  const recorded = new Set();
  const write = Reflect.get(Socket.prototype, "write");
  // The program has pg in its bundle, where it cannot be replaced: its messages are read as they are sent.
  Socket.prototype.write = function recordedWrite(...args) {
    const sql = statementOf(args[0]);
    if (sql !== undefined && !recorded.has(sql)) {
      recorded.add(sql);
      appendFileSync(join(folder, `${process.pid}.ndjson`), `${JSON.stringify(sql)}\n`);
    }
    return Reflect.apply(write, this, args);
  };
}

/** The text of a Query or Parse message of PostgreSQL's protocol; undefined of anything else. */
function statementOf(chunk) {
  if (!Buffer.isBuffer(chunk) || chunk.length < 6 || chunk.readInt32BE(1) !== chunk.length - 1) return undefined;
  const type = String.fromCharCode(chunk[0]);
  if (type !== "Q" && type !== "P") return undefined;
  const start = type === "Q" ? 5 : chunk.indexOf(0, 5) + 1; // Parse has the name of the statement first
  return chunk.toString("utf8", start, chunk.indexOf(0, start));
}
