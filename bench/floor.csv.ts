import { parseString } from "fast-csv";
import type { FastifyInstance } from "fastify";
import type { Pool, PoolClient } from "pg";
import { upsertProducts } from "./floor.bulk.js";
import type { productColumns } from "./floor.table.js";

type CsvRow = Record<(typeof productColumns)[number], string>;

const rowsAtOnce = 1_000;

/** The documented import of CSV: fast-csv's stream, and one upsert for a thousand rows, in one transaction. */
export function addCsv(app: FastifyInstance, pool: Pool): void {
  app.post<{ Body: { csvContent: string } }>(
    "/external/product/v1/bulk/csv",
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify awaits them
    async ({ storeId, body: { csvContent } }) => {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const imported = await importCsv(client, storeId, csvContent);
        await client.query("COMMIT");
        return { message: `${imported} products were imported.`, imported };
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
  );
}

async function importCsv(client: PoolClient, storeId: string, text: string): Promise<number> {
  let imported = 0;
  let rows: CsvRow[] = [];
  const store = async (): Promise<void> => {
    imported += (await upsertProducts(client, storeId, rows)).length;
    rows = [];
  };
  for await (const row of parseString(text, { headers: true }) as AsyncIterable<CsvRow>) {
    rows.push(row);
    if (rows.length === rowsAtOnce) await store();
  }
  if (rows.length > 0) await store();
  return imported;
}
