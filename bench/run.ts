// `npm run bench` runs all benchmarks, `npm run bench -- rest csv` some, and prints a Markdown table on standard output.
// They need a build, Linux, psql, and PostgreSQL (BENCH_DATABASE_URL, postgres://postgres@127.0.0.1:5432/postgres by
// default). The exit code is 1 when a figure misses what it must reach, or cannot be measured.
import { benchAnalytics } from "./analytics.js";
import { benchBulk } from "./bulk.js";
import { benchCatalogs } from "./catalogs.js";
import { benchCitus } from "./citus/citus.js";
import { benchCollect } from "./collect.js";
import { benchCsv } from "./csv.js";
import { benchEmbedded } from "./embedded.js";
import { benchEvents } from "./events.js";
import { benchInsights } from "./insights/insights.js";
import { benchMixed } from "./mixed.js";
import { benchMoments } from "./moments.js";
import { benchOrders } from "./orders.js";
import { benchGraphql, benchRest } from "./reads.js";
import { benchNeighbours } from "./neighbours/neighbours.js";
import { closeAll, endRun } from "./resources.js";
import { benchStart } from "./start.js";
import { benchStorage } from "./storage/storage.js";
import { describeMachine, isMet, markdownTable, progress, type Row } from "./table.js";

const wanted = process.argv.slice(2);
/** Ten million only when asked for: writing them takes minutes. */
const events = Number(process.env["BENCH_EVENTS"] ?? (wanted.includes("analytics") ? 10_000_000 : 1_000_000));

const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  rest: benchRest,
  graphql: benchGraphql,
  bulk: benchBulk,
  csv: benchCsv,
  catalogs: benchCatalogs,
  events: benchEvents,
  collect: benchCollect,
  analytics: () => benchAnalytics(events),
  start: benchStart,
  embedded: benchEmbedded,
  mixed: benchMixed,
  neighbours: benchNeighbours,
  storage: benchStorage,
  insights: benchInsights,
  orders: benchOrders,
  moments: benchMoments,
  citus: benchCitus,
};
/** Run only when asked for by name: they take their time. */
const onlyByName = new Set(["catalogs", "mixed", "neighbours", "storage", "insights", "orders", "moments", "citus"]);

const unknown = wanted.filter((name) => !(name in benchmarks));
if (unknown.length > 0) {
  progress(`No benchmark ${unknown.join(", ")}; there are ${Object.keys(benchmarks).join(", ")}.`);
  process.exit(1);
}

let isInterrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    progress("interrupted: closing what is open");
    void endRun().then(() => process.exit(130));
  });
}

const rows: Row[] = [];
const failed: string[] = [];
for (const [name, run] of Object.entries(benchmarks)) {
  if (isInterrupted || (wanted.length > 0 ? !wanted.includes(name) : onlyByName.has(name))) continue;
  try {
    rows.push(...(await run()));
  } catch (error) {
    failed.push(name);
    if (!isInterrupted)
      process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  } finally {
    await closeAll();
  }
}
if (!isInterrupted) {
  process.stdout.write(`${await describeMachine()}\n\n${markdownTable(rows)}\n`);
  if (wanted.length === 0) {
    process.stdout.write(
      "\nWith 10 million events: `npm run bench -- analytics`. Two servers, a minute: `npm run bench -- mixed`. Modes of imports, files and exports: `npm run bench -- catalogs`. What others notice of hostile requests: `npm run bench -- neighbours`.\n",
    );
  }
  process.exitCode = failed.length === 0 && rows.every(isMet) ? 0 : 1;
}
