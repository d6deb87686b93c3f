import type { OpenDatabase } from "../../src/database/open.js";
import { testDatabase } from "./app.js";

/** A database on which everything about products fails with what `fail` throws. */
export function brokenDatabase(fail: (database: OpenDatabase) => Promise<never>): OpenDatabase {
  const database = testDatabase();
  const broken = new Proxy({}, { get: () => () => fail(database) });
  const client = new Proxy(database.client, {
    get: (target, name) =>
      name === "product"
        ? broken
        : name === "$transaction" || name === "$queryRaw"
          ? () => fail(database)
          : Reflect.get(target, name, target),
  });
  return { ...database, client };
}
