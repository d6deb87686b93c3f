import type { Config } from "../../config.js";

/** Whether there is GraphiQL: where only persisted operations run, it could run nothing. */
export function servesGraphiql({ graphiql, persistedOperationsOnly }: Config): boolean {
  return graphiql && !persistedOperationsOnly;
}
