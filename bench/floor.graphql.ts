import type { FastifyInstance } from "fastify";
import { GraphQLScalarType } from "graphql";
import mercurius from "mercurius";
import type { Pool } from "pg";

declare module "mercurius" {
  interface MercuriusContext {
    storeId: string;
  }
}

const typeDefinitions = `
  scalar DateTime
  type Product {
    id: String!
    sku: String!
    title: String!
    description: String
    price: Float
    price_min: Float
    price_max: Float
    available: Boolean!
    images: [String!]!
    featured_image: String!
    url: String!
    createdAt: DateTime!
    updatedAt: DateTime!
  }
  type Query {
    product(productId: String!): Product
  }
`;

const findProduct = {
  name: "findProductForGraphql",
  text: `SELECT id, sku, title, description, price::float8, "priceMin"::float8 AS price_min, "priceMax"::float8 AS price_max,
      available, images, "featuredImage" AS featured_image, url, "createdAt", "updatedAt"
    FROM "Product" WHERE "storeId" = $1 AND (id = $2 OR sku = $2) ORDER BY id = $2 DESC LIMIT 1`,
};

/** The GraphQL read of a product, compiled at its first call. */
export async function addGraphql(app: FastifyInstance, pool: Pool): Promise<void> {
  await app.register(mercurius, {
    schema: typeDefinitions,
    resolvers: {
      DateTime: new GraphQLScalarType<Date, string>({
        name: "DateTime",
        serialize: (value) => (value as Date).toISOString(), // pg gives nothing else
      }),
      Query: {
        product: async (_, { productId }: { productId: string }, { storeId }) => {
          const { rows } = await pool.query({ ...findProduct, values: [storeId, productId] });
          if (rows[0] === undefined) {
            throw new mercurius.ErrorWithProps("The store has no such product.", { code: "PRODUCT_NOT_FOUND" }, 200);
          }
          return rows[0];
        },
      },
    },
    context: ({ storeId }) => ({ storeId }),
    jit: 1,
  });
}
