import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { Problem } from "./floor.problems.js";

const findProduct = {
  name: "findProductForRest",
  text: `SELECT id, sku, title, "featuredImage" AS featured_image, url FROM "Product"
    WHERE "storeId" = $1 AND (id = $2 OR sku = $2) ORDER BY id = $2 DESC LIMIT 1`,
};

const text = { type: "string" };
const productSchema = {
  type: "object",
  properties: { id: text, sku: text, title: text, featured_image: text, url: text },
};

/** The documented read of a product. */
export function addRest(app: FastifyInstance, pool: Pool): void {
  app.get<{ Params: { productId: string } }>(
    "/external/product/v1/:productId",
    { schema: { response: { 200: productSchema } } },
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Fastify awaits them
    async (request) => {
      const { rows } = await pool.query({ ...findProduct, values: [request.storeId, request.params.productId] });
      if (rows[0] === undefined) throw new Problem(400, "PRODUCT_NOT_FOUND", "The store has no such product.");
      return rows[0];
    },
  );
}
