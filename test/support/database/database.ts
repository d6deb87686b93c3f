import { inject } from "vitest";
import type { OpenDatabase } from "../../../src/database/open.js";

export interface GivenDatabase {
  readonly engine: "postgres" | "embedded";
  readonly connection: OpenDatabase["connection"];
}

declare module "vitest" {
  interface ProvidedContext {
    /** Each serves some of a project's workers. */
    databases: readonly GivenDatabase[];
  }
}

/** The database under test: that of this worker, whose files run one after the other. */
export function givenDatabase(): GivenDatabase {
  const databases = inject("databases");
  const given = databases[Number(process.env["VITEST_POOL_ID"]) % databases.length];
  if (given === undefined) throw new Error("Tests run in workers of Vitest, with a database of the run.");
  return given;
}
