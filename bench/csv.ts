import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { alternate, ratios } from "./load.js";
import { temporaryFolder } from "./resources.js";
import { createDatabase, startServer } from "./server.js";
import { atMost, plain, type Row } from "./table.js";

const run = promisify(execFile);
const rows = 100_000;
const rounds = 5;

const floorTable = `CREATE TABLE floor ("storeId" text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
  sku text COLLATE "C" NOT NULL, title text NOT NULL, description text, price numeric, price_min numeric, price_max numeric,
  available boolean NOT NULL, images text, featured_image text NOT NULL, url text NOT NULL,
  PRIMARY KEY ("storeId", id), UNIQUE ("storeId", sku) DEFERRABLE INITIALLY IMMEDIATE)`;
const columns = "id, sku, title, description, price, price_min, price_max, available, images, featured_image, url";

/** A CSV of 100,000 rows over HTTP into an empty catalog, against psql: COPY into a temporary table and one upsert. */
export async function benchCsv(): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  const folder = temporaryFolder();
  const text = csvText();
  const [file, script] = [join(folder, "products.csv"), join(folder, "floor.sql")];
  await writeFile(file, text);
  await writeFile(script, floorScript(file));
  await run("psql", [databaseUrl, "-qc", floorTable]);
  const body = JSON.stringify({ csvContent: text });
  const found = await alternate(
    rounds,
    async () => {
      await run("psql", [databaseUrl, "-qc", 'TRUNCATE "Product" CASCADE']);
      return timed(() => importOverHttp(server.url, server.token, body));
    },
    async () => {
      await run("psql", [databaseUrl, "-qc", "TRUNCATE floor"]);
      return timed(() => run("psql", [databaseUrl, "-q", "-v", "ON_ERROR_STOP=1", "-f", script]));
    },
  );
  return [
    {
      work: "CSV of 100,000 rows over HTTP: time against psql COPY + upsert",
      values: ratios(found, (ms) => ms),
      digits: 2,
      detail: `${plain(found.ours, 0, "ms")} against ${plain(found.floor, 0, "ms")}`,
      bound: atMost(2, 1.3),
    },
  ];
}

async function importOverHttp(url: string, token: string, body: string): Promise<void> {
  const response = await fetch(`${url}/external/product/v1/bulk/csv`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-access-token": token },
    body,
  });
  if (response.status !== 200) throw new Error(await response.text());
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function floorScript(file: string): string {
  const upsert = columns
    .split(", ")
    .slice(1)
    .map((name) => `${name} = EXCLUDED.${name}`);
  return `BEGIN;
CREATE TEMPORARY TABLE sent (LIKE floor) ON COMMIT DROP;
ALTER TABLE sent DROP COLUMN "storeId";
\\copy sent (${columns}) FROM '${file}' CSV HEADER
INSERT INTO floor ("storeId", ${columns}) SELECT 'store', ${columns} FROM sent
  ON CONFLICT ("storeId", id) DO UPDATE SET ${upsert.join(", ")};
COMMIT;
`;
}

/** About 28 MB: quoted titles, a sentence of description, two images. */
function csvText(): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    const images = `"[""https://cdn.example.com/${i}-1.jpg"",""https://cdn.example.com/${i}-2.jpg""]"`;
    const description = `"Product ${i}: what it is made of, how to wash it."`;
    const prices = `${(i % 1_000) / 10},1.5,${200 + (i % 10)}`;
    const links = `https://cdn.example.com/${i}.jpg,https://shop.example.com/products/${i}`;
    return `p-${i},SKU-${String(i).padStart(8, "0")},"Shirt ${i}, ""Summer""",${description},${prices},true,${images},${links}`;
  });
  return [columns.replaceAll(" ", ""), ...lines, ""].join("\n");
}
