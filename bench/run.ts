// `npm run bench` runs all benchmarks, `npm run bench -- rest csv` some, and prints a Markdown table on standard output.
// They need a build, Linux, and PostgreSQL (BENCH_DATABASE_URL, postgres://postgres@127.0.0.1:5432/postgres by default).
// The exit code is 1 when a figure misses what it must reach.
import { benchAnalytics } from "./analytics.js";
import { benchCsv } from "./csv.js";
import { benchEvents } from "./events.js";
import { benchGraphql, benchRest } from "./reads.js";
import { closeAll } from "./resources.js";
import { describeMachine, isMet, markdownTable, type Row } from "./table.js";

const wanted = process.argv.slice(2);
/** Ten million only when asked for: writing them takes minutes. */
const events = Number(process.env["BENCH_EVENTS"] ?? (wanted.includes("analytics") ? 10_000_000 : 1_000_000));

const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  rest: benchRest,
  graphql: benchGraphql,
  csv: benchCsv,
  events: benchEvents,
  analytics: () => benchAnalytics(events),
};

const unknown = wanted.filter((name) => !(name in benchmarks));
if (unknown.length > 0)
  throw new Error(`No benchmark ${unknown.join(", ")}; there are ${Object.keys(benchmarks).join(", ")}.`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void closeAll().then(() => process.exit(130)));
}

const rows: Row[] = [];
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    rows.push(...(await run()));
  } finally {
    await closeAll();
  }
}
process.stdout.write(`${await describeMachine()}\n\n${markdownTable(rows)}\n`);
process.exitCode = rows.every(isMet) ? 0 : 1;
