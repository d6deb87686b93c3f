import { expect, test } from "vitest";
import { Prisma } from "../../src/generated/prisma/client.js";
import { openTestDatabase } from "../support/app.js";
import { ofTest } from "../support/citus/recording.js";

const database = openTestDatabase();

test.each(Object.values(Prisma.ModelName))(
  "the migrations create the columns of %s in prisma/schema.prisma",
  async (table) => {
    // Prisma's client leaves out fields of unsupported types: words for searches.
    const columns = await database.client.$queryRawUnsafe<{ name: string }[]>(
      ofTest(`
      SELECT column_name::text AS name FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = '${table}' AND udt_name <> 'tsvector'`),
    );
    const fields = Object.entries(Prisma).find(([name]) => name === `${table}ScalarFieldEnum`)?.[1] ?? {};
    expect(new Set(columns.map(({ name }) => name))).toEqual(new Set(Object.values(fields)));
  },
);
