import type { OpenDatabase } from "../../../src/database/open.js";
import { testDatabase } from "../app.js";

/** A database on which everything about products fails with what `fail` throws; tokens can be looked up. */
export function brokenDatabase(fail: (database: OpenDatabase) => Promise<never>): OpenDatabase {
  const database = testDatabase();
  const broken = new Proxy({}, { get: () => () => fail(database) });
  const client = new Proxy(database.client, {
    get: (target, name) =>
      name === "product"
        ? broken
        : name === "$queryRaw"
          ? (text: TemplateStringsArray, ...values: unknown[]) =>
              text[0]?.startsWith("/* store_of_token */") ? target.$queryRaw(text, ...values) : fail(database)
          : name === "$transaction"
            ? () => fail(database)
            : Reflect.get(target, name, target),
  });
  return { ...database, client };
}
