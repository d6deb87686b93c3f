import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from "graphql";
import { FairShare } from "../lib/fairShare.js";
import { validateBounded } from "../execution/validation/limits.js";
import { parseBounded } from "../execution/validation/parse.js";
import { prepareSubscription, type Subscription } from "./subscription.js";
import { documentCache, weightOfCompiled, weightOfDocument } from "../execution/weight.js";

/** Cached subscriptions and their total weight: about 10 MB. */
const subscriptionsMax = 200;
const weightMax = 10_000;

/** Clients of the same subscription share its values. */
export interface KnownSubscriptions {
  /** Undefined for anything but a valid subscription. */
  find(text: string, operationName: string | undefined): Subscription | undefined;
}

/** How many executions of a store run at a time, so that most connections stay free. */
const executionsOfStoreMax = 2;

/** @param waitMs how long a value may wait for others of its store before it is UNAVAILABLE; 4.5 seconds by default */
export function createKnownSubscriptions(schema: GraphQLSchema, waitMs?: number): KnownSubscriptions {
  const executions = new FairShare({
    places: Number.MAX_SAFE_INTEGER, // unlimited: connections are shared elsewhere
    ofStoreMax: executionsOfStoreMax,
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many different subscriptions of this store wait for their values.",
  });
  const weightOf = ({ document }: Subscription) => weightOfDocument(document) + weightOfCompiled(document);
  const known = documentCache<Subscription>(weightMax, weightOf, subscriptionsMax);
  return {
    find(text, operationName) {
      const key = keyOf(text, operationName);
      const before = known.get(key);
      if (before !== undefined) return before;
      const document = text.includes("subscription") ? parseValid(schema, text) : undefined;
      if (document === undefined) return undefined;
      const subscription = prepareSubscription(schema, document, operationName, executions);
      if (subscription.names?.kind !== OperationTypeNode.SUBSCRIPTION) return undefined;
      known.set(key, subscription);
      return subscription;
    },
  };
}

function keyOf(text: string, operationName: string | undefined): string {
  return JSON.stringify([operationName ?? null, text]);
}

function parseValid(schema: GraphQLSchema, text: string): DocumentNode | undefined {
  try {
    const document = parseBounded(text);
    return validateBounded(schema, document).length === 0 ? document : undefined;
  } catch {
    return undefined;
  }
}
