import type { typedGraphql as typed } from "../../generated/dashboard/gql.js";

/** Marks an operation for GraphQL Code Generator, which finds it by this name and types it. At run time it is the text. */
export const typedGraphql = ((text: string) => text) as unknown as typeof typed;

/** The text of an operation with those of the fragments that it uses. */
export function withFragments<Operation>(text: Operation, ...fragments: readonly unknown[]): Operation {
  return [text, ...fragments].join("") as Operation;
}
