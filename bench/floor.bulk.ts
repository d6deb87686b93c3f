import type { FastifyInstance } from "fastify";
import type { Pool, PoolClient } from "pg";
import { productColumns, upsertStatement } from "./floor.table.js";
import type { Product } from "./products.js";

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const price = { type: "number", minimum: 0 };
const bodySchema = {
  type: "object",
  required: ["products"],
  additionalProperties: false,
  properties: {
    products: {
      type: "array",
      maxItems: 100_000,
      items: {
        type: "object",
        required: ["id", "sku", "title", "available", "featured_image", "url"],
        additionalProperties: false,
        properties: {
          id: text(255),
          sku: text(255),
          title: text(1_000),
          description: { type: "string", maxLength: 65_535 },
          price,
          price_min: price,
          price_max: price,
          available: { type: "boolean" },
          images: { type: "array", maxItems: 250, items: text(2_048) },
          featured_image: text(2_048),
          url: text(2_048),
        },
      },
    },
  },
};

const types: Readonly<Record<string, string>> = {
  price: "numeric",
  price_min: "numeric",
  price_max: "numeric",
  available: "boolean",
};
const arrays = productColumns.map((name, index) => `$${index + 2}::${types[name] ?? "text"}[]`);
const upsert = {
  name: "upsertProducts",
  text: `${upsertStatement("$1", `unnest(${arrays.join(", ")}) AS sent (${productColumns.join(", ")})`)}
    RETURNING (xmax = 0) AS created`,
};

export async function upsertProducts(
  db: Pool | PoolClient,
  storeId: string,
  products: readonly Readonly<Record<(typeof productColumns)[number], unknown>>[],
): Promise<readonly { readonly created: boolean }[]> {
  const columns = productColumns.map((name) => products.map((product) => product[name]));
  return (await db.query<{ created: boolean }>({ ...upsert, values: [storeId, ...columns] })).rows;
}

/** The documented bulk import, as one statement. */
export function addBulk(app: FastifyInstance, pool: Pool): void {
  app.post<{ Body: { products: Product[] } }>(
    "/external/product/v1/bulk",
    { schema: { body: bodySchema } },
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify awaits them
    async ({ storeId, body: { products } }) => {
      const rows = await upsertProducts(
        pool,
        storeId,
        products.map((product) => ({ ...product, images: JSON.stringify(product.images) })),
      );
      const created = rows.filter((row) => row.created).length;
      const imported = rows.length;
      const message = imported === 1 ? "1 product was imported." : `${imported} products were imported.`;
      return { message, imported, created, updated: imported - created };
    },
  );
}
