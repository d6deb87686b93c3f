import type { typedGraphql as typed } from "../../generated/dashboard/gql.js";

/** Marks an operation for GraphQL Code Generator, which finds and types it by this function's name. Returns the text. */
export const typedGraphql = ((text: string) => text) as unknown as typeof typed;

/** The query of the same figures, once. */
export function asQuery<Subscription>(subscription: Subscription): Subscription {
  return String(subscription).replace(/subscription (\w+)/u, "query $1Now") as Subscription;
}

/** Appends the texts of the fragments that an operation uses. */
export function withFragments<Operation>(text: Operation, ...fragments: readonly unknown[]): Operation {
  return [text, ...fragments].join("") as Operation;
}
