import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from "graphql";
import { FairShare } from "../lib/fairShare.js";
import type { KnownOperations } from "../execution/operationCache.js";
import { prepareSubscription, type Subscription } from "./subscription.js";

/** Clients of the same subscription share its values. */
export interface KnownSubscriptions {
  /** Undefined for anything but a valid subscription. */
  find(text: string, operationName: string | undefined): Subscription | undefined;
}

/** How many executions of a store run at a time, so that most connections stay free. */
const executionsOfStoreMax = 2;

/**
 * @param known gets the documents
 * @param waitMs how long a value may wait for others of its store before it is UNAVAILABLE; 4.5 seconds by default
 */
export function createKnownSubscriptions(
  schema: GraphQLSchema,
  known: KnownOperations,
  waitMs?: number,
): KnownSubscriptions {
  const executions = new FairShare({
    places: Number.MAX_SAFE_INTEGER, // unlimited: connections are shared elsewhere
    ofStoreMax: executionsOfStoreMax,
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many different subscriptions of this store wait for their values.",
  });
  /** By document, with which they are forgotten, and name. */
  const prepared = new WeakMap<DocumentNode, Map<string | undefined, Subscription>>();
  return {
    find(text, operationName) {
      if (!text.includes("subscription")) return undefined;
      const document = readValid(text, known);
      if (document === undefined) return undefined;
      const ofDocument = prepared.get(document) ?? new Map<string | undefined, Subscription>();
      const before = ofDocument.get(operationName);
      if (before !== undefined) return before;
      const subscription = prepareSubscription(schema, document, operationName, executions);
      if (subscription.names?.kind !== OperationTypeNode.SUBSCRIPTION) return undefined;
      prepared.set(document, ofDocument.set(operationName, subscription));
      return subscription;
    },
  };
}

function readValid(text: string, known: KnownOperations): DocumentNode | undefined {
  try {
    const document = known.parse(text);
    return known.validate(document).length === 0 ? document : undefined;
  } catch {
    return undefined;
  }
}
