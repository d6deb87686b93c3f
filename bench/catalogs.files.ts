import { execFile } from "node:child_process";
import { createWriteStream, openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { productColumns } from "./floor.table.js";
import { alternate, ratios } from "./load.js";
import { makeProduct } from "./products.js";
import { temporaryFolder } from "./resources.js";
import { type BenchServer, createDatabase, query, startServer } from "./server.js";
import { atLeast, atMost, plain, progress, type Row } from "./table.js";

const run = promisify(execFile);
const path = "/external/product/v1/bulk/csv";
const emptyCatalog = 'TRUNCATE "Product" CASCADE';
const exported = 100_000;
const rounds = 3;
/** Rows of the file with columns of other names. */
const mapped = 200_000;
/** Rows of the upload. */
const uploaded = Number(process.env["BENCH_CATALOG_ROWS"] ?? 1_000_000);

/** Files as bodies against the import of the command line and with columns of other names, and an export against psql. */
export async function benchFiles(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  const folder = temporaryFolder();
  const uploads = await benchUpload(databaseUrl, server, join(folder, "upload.csv"));
  const mappings = await benchMapped(databaseUrl, server, folder);
  const exports = await benchExport(databaseUrl, server, folder);
  return [...uploads, mappings, exports];
}

async function benchUpload(databaseUrl: string, server: BenchServer, file: string): Promise<Row[]> {
  progress(`catalogs: an upload of ${uploaded} rows`);
  await pipeline(Readable.from(csvLines(uploaded)), createWriteStream(file));
  const speed = async (work: () => Promise<unknown>) => {
    await query(databaseUrl, emptyCatalog);
    const start = performance.now();
    await work();
    return (uploaded / (performance.now() - start)) * 1_000;
  };
  const speeds = await alternate(
    rounds,
    () => speed(() => upload(server, file)),
    () => speed(() => server.command("import", server.store, file)),
  );
  return [
    {
      work: `text/csv upload of ${uploaded} rows: rows a second against the import of the command line`,
      values: ratios(speeds, (rate) => rate),
      digits: 2,
      detail: `${plain(speeds.ours, 0, "/s")} against ${plain(speeds.floor, 0, "/s")}`,
      bound: atLeast(0.8, 0.95),
    },
    {
      work: "peak memory of the server during that upload",
      values: [await peakMegabytes(server.pid)],
      digits: 0,
      unit: "MB",
      bound: atMost(300, 300),
    },
  ];
}

async function benchMapped(databaseUrl: string, server: BenchServer, folder: string): Promise<Row> {
  progress(`catalogs: ${mapped} rows with columns of other names`);
  const [own, other] = [join(folder, "own.csv"), join(folder, "other.csv")];
  const otherNames = productColumns.map((name) => `my ${name}`);
  await pipeline(Readable.from(csvLines(mapped)), createWriteStream(own));
  await pipeline(Readable.from(csvLines(mapped, otherNames)), createWriteStream(other));
  const map = new URLSearchParams(productColumns.map((name) => ["map", `${name}:my ${name}`]));
  const timed = async (file: string, options?: URLSearchParams) => {
    await query(databaseUrl, emptyCatalog);
    const start = performance.now();
    await upload(server, file, options);
    return performance.now() - start;
  };
  const times = await alternate(
    rounds,
    () => timed(other, map),
    () => timed(own),
  );
  return {
    work: `text/csv upload of ${mapped} rows with columns of other names: time against Vitrine's own`,
    values: ratios(times, (ms) => ms),
    digits: 2,
    detail: `${plain(times.ours, 0, "ms")} against ${plain(times.floor, 0, "ms")}`,
    bound: atMost(1.3, 1.1),
  };
}

async function benchExport(databaseUrl: string, server: BenchServer, folder: string): Promise<Row> {
  progress(`catalogs: an export of ${exported} products`);
  const file = join(folder, "export.csv");
  await pipeline(Readable.from(csvLines(exported)), createWriteStream(file));
  await query(databaseUrl, emptyCatalog);
  await server.command("import", server.store, file);
  const select = `SELECT * FROM "Product" WHERE "storeId" = '${server.store}' ORDER BY id`;
  const timed = async (work: () => Promise<unknown>) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const copy = ["-q", "-c", `\\copy (${select}) TO '${join(folder, "floor.csv")}' CSV HEADER`];
  const times = await alternate(
    rounds,
    () => timed(() => download(server, join(folder, "ours.csv"))),
    () => timed(() => run("psql", [databaseUrl, ...copy])),
  );
  return {
    work: `export of ${exported} products as CSV: time against psql COPY TO`,
    values: ratios(times, (ms) => ms),
    digits: 2,
    detail: `${plain(times.ours, 0, "ms")} against ${plain(times.floor, 0, "ms")}`,
    bound: atMost(3, 1.5),
  };
}

async function upload({ url, token }: BenchServer, file: string, options = new URLSearchParams()): Promise<void> {
  const headers = { "x-service-access-token": token, "content-type": "text/csv" };
  const response = await fetch(`${url}${path}?${options.toString()}`, {
    method: "POST",
    headers,
    body: await openAsBlob(file),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The upload was answered with ${response.status}: ${text}`);
}

async function download({ url, token }: BenchServer, file: string): Promise<void> {
  const headers = { "x-service-access-token": token, "accept-encoding": "identity" };
  const { body, status } = await fetch(`${url}${path}`, { headers });
  if (status !== 200 || body === null) throw new Error(`The export was answered with ${status}.`);
  await pipeline(body, createWriteStream(file));
}

async function peakMegabytes(pid: number): Promise<number> {
  const [, kilobytes = ""] = /^VmHWM:\s+(\d+) kB$/mu.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}

function* csvLines(count: number, header: readonly string[] = productColumns): Generator<string, void> {
  yield `${header.join(",")}\n`;
  for (let index = 0; index < count; index += 1) {
    const product = makeProduct(index);
    yield `${productColumns.map((name) => csvCell(product[name])).join(",")}\n`;
  }
}

function csvCell(value: string | number | boolean | string[]): string {
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  return /[",]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
