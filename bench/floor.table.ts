/** The columns of a product, as imports name them. */
export const productColumns = [
  "id",
  "sku",
  "title",
  "description",
  "price",
  "price_min",
  "price_max",
  "available",
  "images",
  "featured_image",
  "url",
] as const;

/** Where the floor imports to: Product without what only Vitrine keeps, such as words for its search. */
export const createFloorTable = `CREATE TABLE floor ("storeId" text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
  sku text COLLATE "C" NOT NULL, title text NOT NULL, description text, price numeric, price_min numeric, price_max numeric,
  available boolean NOT NULL, images text, featured_image text NOT NULL, url text NOT NULL,
  PRIMARY KEY ("storeId", id), UNIQUE ("storeId", sku) DEFERRABLE INITIALLY IMMEDIATE)`;

/** Empties what both sides import to. */
export const emptyCatalogs = 'TRUNCATE "Product", floor CASCADE';

const names = productColumns.join(", ");
const replaced = productColumns.slice(1).map((name) => `${name} = EXCLUDED.${name}`);

/** One upsert. `storeId` is an SQL expression; `rows` gives the columns in their order. */
export function upsertStatement(storeId: string, rows: string): string {
  return `INSERT INTO floor ("storeId", ${names}) SELECT ${storeId}, ${names} FROM ${rows}
    ON CONFLICT ("storeId", id) DO UPDATE SET ${replaced.join(", ")}`;
}
