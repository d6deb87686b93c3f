import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Request } from "autocannon";
import { type Probed, probeDuring } from "./csv.probing.js";
import { createFloorTable, emptyCatalogs, productColumns, upsertStatement } from "./floor.table.js";
import { alternate, describe, ratios } from "./load.js";
import { makeProduct } from "./products.js";
import { postRequest, send } from "./requests.js";
import { temporaryFolder } from "./resources.js";
import { type BenchServer, createDatabase, query, startFloor, startServer } from "./server.js";
import { atMost, plain, progress, type Row } from "./table.js";

const run = promisify(execFile);
const path = "/external/product/v1/bulk/csv";
const products = 100_000;
const rounds = 5;
/** One row in so many is invalid. */
const invalidEach = 100;
const probedRounds = 3;

/**
 * A CSV of 100,000 rows over HTTP against psql, COPY into a temporary table and one upsert; against the same by hand; and against itself,
 * in other modes and with invalid rows. Then into an empty catalog of a fresh server, while a client watches.
 */
export async function benchCsv(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  await query(databaseUrl, createFloorTable);
  const hand = await startFloor(databaseUrl);
  const all = csvOf((index) => makeProduct(index));
  const fifth = csvOf((index) => (index % 5 === 0 ? makeProduct(index) : withoutQuotes(index)));
  const partly = csvOf((index) => ({ ...makeProduct(index), ...(index % invalidEach === 0 && { price: -1 }) }));
  const prices = csvOf((index) => ({ id: makeProduct(index).id, price: index % 7 }));
  progress(`csv: ${(Buffer.byteLength(all) / 1e6).toFixed(1)} MB, ${rounds} rounds`);

  const json = (csvContent: string, more: object = {}) => postRequest(path, server.token, { csvContent, ...more });
  const intoEmpty = (work: () => Promise<unknown>) => async () => {
    await query(databaseUrl, emptyCatalogs);
    return timed(work);
  };
  const again = (work: () => Promise<unknown>) => () => timed(work);
  const sent = (request: ReturnType<typeof json>) => () => send(server, request);
  const [upsert, upsertByPsql] = [sent(json(all)), await psqlOf(databaseUrl, all)];
  const compared = async (work: string, bound: Row["bound"], ours: Timed, floor: Timed): Promise<Row> => {
    progress(work);
    const times = await alternate(rounds, ours, floor);
    const detail = `${plain(times.ours, 0, "ms")} against ${plain(times.floor, 0, "ms")}`;
    return { work, values: ratios(times, (ms) => ms), digits: 2, detail, ...(bound && { bound }) };
  };
  const rows = [
    await compared(
      "text/csv of 100,000 rows over HTTP, a fifth of them with quotes: time against psql COPY + upsert",
      atMost(1.4, 1.1),
      intoEmpty(() => send(server, textRequest(server.token, fifth))),
      intoEmpty(await psqlOf(databaseUrl, fifth)),
    ),
    await compared(
      "CSV as JSON, all rows with quotes: time against psql COPY + upsert",
      atMost(2.3, 2),
      intoEmpty(upsert),
      intoEmpty(upsertByPsql),
    ),
    await compared(
      "the same into the catalog that has it: time against psql COPY + upsert",
      undefined,
      again(upsert),
      again(upsertByPsql),
    ),
    await compared(
      "the same against the same by hand: fast-csv's stream and an upsert of each 1,000 rows, behind Fastify",
      atMost(1.1, 1),
      intoEmpty(upsert),
      intoEmpty(() => send(hand, json(all))),
    ),
    await compared(
      "the same with 1 % of rows invalid and REJECT_FAILED: time against all valid",
      atMost(1.15, 1),
      intoEmpty(sent(json(partly, { errorPolicy: "REJECT_FAILED" }))),
      intoEmpty(upsert),
    ),
    await compared(
      "REPLACE of the catalog by itself: time against UPSERT",
      atMost(1.2, 1),
      again(sent(json(all, { mode: "REPLACE" }))),
      again(upsert),
    ),
    await compared(
      "PATCH of one price: time against UPSERT",
      atMost(1, 0.67),
      again(sent(json(prices, { mode: "PATCH" }))),
      again(upsert),
    ),
  ];
  await Promise.all([server.stop(), hand.stop()]);
  const probed: Probed[] = [];
  for (let round = 0; round < probedRounds; round += 1) {
    await query(databaseUrl, emptyCatalogs);
    const work = (fresh: BenchServer) => send(fresh, postRequest(path, fresh.token, { csvContent: all }));
    probed.push(await probeDuring(databaseUrl, work));
    progress(`  watched: ${describe(probed.at(-1))}`);
  }
  return [...rows, ...probedRows(probed)];
}

type Timed = () => Promise<number>;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function textRequest(token: string, body: string): Request {
  const headers = { "content-type": "text/csv", "x-service-access-token": token };
  return { method: "POST", path, headers, body };
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
      bound: atMost(50, 30),
    },
    {
      work: "peak memory of the server during that import",
      values: probed.map(({ peakMegabytes }) => peakMegabytes),
      digits: 0,
      unit: "MB",
      bound: atMost(270, 230),
    },
  ];
}

async function psqlOf(databaseUrl: string, text: string): Promise<() => Promise<unknown>> {
  const folder = temporaryFolder();
  const [file, script] = [join(folder, "products.csv"), join(folder, "floor.sql")];
  await writeFile(file, text);
  await writeFile(script, floorScript(file));
  return () => run("psql", [databaseUrl, "-q", "-v", "ON_ERROR_STOP=1", "-f", script]);
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

/** Of a single image, which is a URL and no JSON. */
function withoutQuotes(index: number): CsvProduct {
  const product = makeProduct(index);
  const [images = ""] = product.images;
  return {
    ...product,
    title: product.title.replaceAll(/[",]/gu, ""),
    description: product.description.replaceAll(",", ""),
    images,
  };
}

type CsvProduct = Readonly<Partial<Record<(typeof productColumns)[number], string | number | boolean | string[]>>>;

/** About 28 MB with all fields: a title, a sentence of description, images. */
function csvOf(productAt: (index: number) => CsvProduct): string {
  const columns = productColumns.filter((name) => name in productAt(0));
  const lines = Array.from({ length: products }, (_, index) => {
    const product = productAt(index);
    return columns.map((name) => csvCell(product[name] ?? "")).join(",");
  });
  return [columns.join(","), ...lines, ""].join("\n");
}

function csvCell(value: string | number | boolean | string[]): string {
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  return /[",]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
