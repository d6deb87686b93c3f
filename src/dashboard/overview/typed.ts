import type { graphql as typed } from "../../generated/dashboard/gql.js";

/** Marks an operation for GraphQL Code Generator, which finds it by this name and types it. At run time it is the text. */
export const graphql = ((operation: string) => operation) as unknown as typeof typed;

/** The text of an operation with that of a fragment that it uses. */
export function withFragment<Operation>(operation: Operation, fragment: unknown): Operation {
  return `${String(operation)}${String(fragment)}` as Operation;
}
