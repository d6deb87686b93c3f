// `npm run bench` runs all benchmarks, `npm run bench -- events` one, and prints a Markdown table. They need PostgreSQL
// (BENCH_DATABASE_URL, postgres://postgres@127.0.0.1:5432/postgres by default) and a build.
import { benchAnalytics } from "./analytics.js";
import { benchCsv } from "./csv.js";
import { benchEvents } from "./events.js";

const benchmarks: Readonly<Record<string, () => Promise<string[]>>> = {
  csv: benchCsv,
  events: benchEvents,
  analytics: benchAnalytics,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benchmarks));
if (unknown.length > 0)
  throw new Error(`No benchmark ${unknown.join(", ")}; there are ${Object.keys(benchmarks).join(", ")}.`);

const rows: string[] = [];
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await run()));
}
process.stdout.write(["| what | measured | must |", "|---|---|---|", ...rows, ""].join("\n"));
