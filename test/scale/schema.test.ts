import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { Prisma } from "../../src/generated/prisma/client.js";
import { openTestDatabase } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";
import { schemaViolations } from "../support/citus/schemaRules.js";
import { distributedTables, referenceTables } from "../support/citus/tables.js";

const { client: db } = openTestDatabase();

test("the migrated schema meets all rules for Citus", async () => {
  const models = Object.keys(Prisma.ModelName).filter((name) => !referenceTables.has(name));
  expect(await distributedTables(db)).toEqual(models.toSorted());
  expect(await schemaViolations(db)).toEqual([]);
});

test("each violation of a rule of the schema is found", async () => {
  const schema = `violations_${randomUUID().replaceAll("-", "")}`;
  onTestFinished(async () => void (await db.$executeRawUnsafe(ofTest(`DROP SCHEMA ${schema} CASCADE`))));
  const statements = `
    CREATE SCHEMA ${schema};
    CREATE TYPE ${schema}.mood AS ENUM ('GOOD');
    CREATE TABLE ${schema}."Store" (id text COLLATE "C" PRIMARY KEY);
    CREATE TABLE ${schema}."AccessToken" (id text PRIMARY KEY, hash text UNIQUE,
      "storeId" text COLLATE "C" REFERENCES ${schema}."Store" ON UPDATE RESTRICT ON DELETE CASCADE);
    CREATE TABLE ${schema}."Good" ("storeId" text COLLATE "C", id text, other text, PRIMARY KEY ("storeId", id),
      UNIQUE ("storeId", other), FOREIGN KEY ("storeId") REFERENCES ${schema}."Store" ON UPDATE RESTRICT ON DELETE RESTRICT);
    CREATE TABLE ${schema}."Homeless" (id text PRIMARY KEY);
    CREATE TABLE ${schema}."Keyless" ("storeId" text COLLATE "C", mood ${schema}.mood, price money);
    CREATE TABLE ${schema}."Elsewhere" ("storeId" uuid, id text, PRIMARY KEY ("storeId", id));
    CREATE TABLE ${schema}."Loose" ("storeId" text COLLATE "C", id text, PRIMARY KEY ("storeId", id), "goodId" text,
      CONSTRAINT loose_null FOREIGN KEY ("storeId", "goodId") REFERENCES ${schema}."Good" ON UPDATE RESTRICT ON DELETE SET NULL,
      CONSTRAINT loose_update FOREIGN KEY ("storeId", "goodId") REFERENCES ${schema}."Good" ON UPDATE CASCADE ON DELETE CASCADE,
      CONSTRAINT loose_place FOREIGN KEY ("goodId", "storeId") REFERENCES ${schema}."Good" ON UPDATE RESTRICT ON DELETE CASCADE,
      CONSTRAINT loose_token FOREIGN KEY (id) REFERENCES ${schema}."AccessToken" ON UPDATE RESTRICT ON DELETE CASCADE,
      CONSTRAINT loose_later UNIQUE ("storeId", "goodId") DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE ${schema}."Product" ("storeId" text COLLATE "C", id text, sku text, PRIMARY KEY ("storeId", id),
      CONSTRAINT "Product_storeId_sku_key" UNIQUE ("storeId", sku));
    CREATE UNIQUE INDEX product_words ON ${schema}."Product" (lower(sku))`;
  for (const statement of statements.split(";\n")) await db.$executeRawUnsafe(ofTest(statement));
  expect((await schemaViolations(db, schema)).toSorted()).toEqual([
    "AccessToken_storeId_fkey: AccessToken is no distributed table and may have no foreign key",
    "Elsewhere.storeId is uuid COLLATE null, not text COLLATE C",
    "Homeless has no storeId",
    "Homeless_pkey does not begin with storeId",
    "Keyless has no primary key",
    "Keyless.mood is an enum",
    "Keyless.price is of type money",
    "Product_storeId_sku_key is not deferrable",
    "loose_later is initially deferred",
    "loose_null is not ON DELETE CASCADE or RESTRICT",
    "loose_place does not tie the store of Loose to that of Good",
    "loose_token: AccessToken is no distributed table and may not be pointed at",
    "loose_update is not ON UPDATE RESTRICT",
    "product_words does not begin with storeId",
  ]);
});
