import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Probed, probeDuring } from "./csv.probing.js";
import { createFloorTable, emptyCatalogs, productColumns, upsertStatement } from "./floor.table.js";
import { alternate, type Alternation, describe, ratios } from "./load.js";
import { makeProduct } from "./products.js";
import { postRequest, send } from "./requests.js";
import { temporaryFolder } from "./resources.js";
import { createDatabase, query, startServer } from "./server.js";
import { atMost, plain, progress, type Row } from "./table.js";

const run = promisify(execFile);
const path = "/external/product/v1/bulk/csv";
const products = 100_000;
const rounds = 5;
/** One row in so many is invalid. */
const invalidEach = 100;
const probedRounds = 3;

/**
 * A CSV of 100,000 rows over HTTP into an empty catalog, then into one that has its products, against psql: COPY into a
 * temporary table and one upsert. Then into an empty one without the floor, each time on a fresh server, while a client watches.
 */
export async function benchCsv(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  await query(databaseUrl, createFloorTable);
  const folder = temporaryFolder();
  const [file, script] = [join(folder, "products.csv"), join(folder, "floor.sql")];
  const text = csvText();
  await writeFile(file, text);
  await writeFile(script, floorScript(file));
  const body = { csvContent: text };

  progress(`csv: ${(Buffer.byteLength(text) / 1e6).toFixed(1)} MB, ${rounds} rounds`);
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const request = postRequest(path, server.token, body);
  const ours = () => timed(() => send(server, request));
  const floor = () => timed(() => run("psql", [databaseUrl, "-q", "-v", "ON_ERROR_STOP=1", "-f", script]));
  const intoEmpty = (work: () => Promise<number>) => async () => {
    await query(databaseUrl, emptyCatalogs);
    return work();
  };
  const times = await alternate(rounds, intoEmpty(ours), intoEmpty(floor));
  await query(databaseUrl, emptyCatalogs);
  const again = await alternate(rounds, ours, floor);
  const partly = postRequest(path, server.token, { csvContent: csvText(invalidEach), errorPolicy: "REJECT_FAILED" });
  const someInvalid = () => timed(() => send(server, partly));
  const faulty = await alternate(rounds, intoEmpty(someInvalid), intoEmpty(ours));
  await server.stop();
  const probed: Probed[] = [];
  for (let round = 0; round < probedRounds; round += 1) {
    await query(databaseUrl, emptyCatalogs);
    probed.push(await probeDuring(databaseUrl, (fresh) => send(fresh, postRequest(path, fresh.token, body))));
    progress(`  watched: ${describe(probed.at(-1))}`);
  }
  return [...csvRows(times, again), faultyRow(faulty), ...probedRows(probed)];
}

function csvRows(times: Alternation<number>, again: Alternation<number>): Row[] {
  return [
    {
      work: "CSV of 100,000 rows over HTTP: time against psql COPY + upsert",
      values: ratios(times, (ms) => ms),
      digits: 2,
      detail: `${plain(times.ours, 0, "ms")} against ${plain(times.floor, 0, "ms")}`,
      bound: atMost(2, 1.3),
    },
    {
      work: "the same CSV into the catalog that has it: time against psql COPY + upsert",
      values: ratios(again, (ms) => ms),
      digits: 2,
      detail: `${plain(again.ours, 0, "ms")} against ${plain(again.floor, 0, "ms")}`,
    },
  ];
}

function faultyRow(faulty: Alternation<number>): Row {
  return {
    work: "the same CSV with 1 % of rows invalid and REJECT_FAILED: time against all valid",
    values: ratios(faulty, (ms) => ms),
    digits: 2,
    detail: `${plain(faulty.ours, 0, "ms")} against ${plain(faulty.floor, 0, "ms")}`,
    bound: atMost(1.3, 1.1),
  };
}

function probedRows(probed: readonly Probed[]): Row[] {
  const p99s = probed.map(({ busy }) => busy.p99Ms);
  const idle = probed.map(({ idle: { longestMs } }) => longestMs);
  return [
    {
      work: "longest wait of any other request during that import",
      values: probed.map(({ busy }) => busy.longestMs),
      digits: 1,
      unit: "ms",
      detail: `99th percentile ${plain(p99s, 1, "ms")}; the longest without an import ${plain(idle, 1, "ms")}`,
      bound: atMost(100, 30),
    },
    {
      work: "peak memory of the server during that import",
      values: probed.map(({ peakMegabytes }) => peakMegabytes),
      digits: 0,
      unit: "MB",
      bound: atMost(450, 300),
    },
  ];
}

function floorScript(file: string): string {
  return `BEGIN;
CREATE TEMPORARY TABLE sent (LIKE floor) ON COMMIT DROP;
ALTER TABLE sent DROP COLUMN "storeId";
\\copy sent (${productColumns.join(", ")}) FROM '${file}' CSV HEADER
${upsertStatement("'store'", "sent")};
COMMIT;
`;
}

/** About 28 MB: quoted titles, a sentence of description, two images. */
function csvText(invalidRowEach = Infinity): string {
  const lines = Array.from({ length: products }, (_, index) => {
    const product = makeProduct(index);
    const row = index % invalidRowEach === invalidRowEach - 1 ? { ...product, price: -1 } : product;
    return productColumns.map((name) => csvCell(row[name])).join(",");
  });
  return [productColumns.join(","), ...lines, ""].join("\n");
}

function csvCell(value: string | number | boolean | string[]): string {
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  return /[",]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
