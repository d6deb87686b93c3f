import { type DocumentNode, type GraphQLError, type GraphQLSchema, OperationTypeNode } from "graphql";
import { compiledIfCertain, interpreted, type Operation } from "./operation.js";
import { documentCache, weightOfCompiled, weightOfDocument } from "./weight.js";

/** Cached operations and their total weight: up to 80 MB. */
const operationsMax = 1_000;
const weightMax = 62_500;
const compiledFrom = 3;
/** Cached refusals: up to 10 MB. */
const refusedMax = 200;
const refusedWeightMax = 10_000;

/** Operations that need not be parsed, validated and planned again. */
export interface KnownOperations {
  find(text: string, operationName: string | undefined): Operation | undefined;
  /**
   * Not compiled: Yoga locates errors by graphql-js's nodes. Queries and mutations are cached by their document's text.
   */
  add(document: DocumentNode, operationName: string | undefined): Operation;
  /** The errors of an invalid document, as callers get them. */
  findErrors(text: string): readonly GraphQLError[] | undefined;
  addErrors(document: DocumentNode, errors: readonly GraphQLError[]): void;
}

interface Known {
  readonly weight: number;
  readonly uses: ReadonlyMap<string | undefined, Use>;
}

interface Refused {
  readonly weight: number;
  readonly errors: readonly GraphQLError[];
}

interface Use {
  readonly operation: Operation;
  next(): Operation;
}

export function createKnownOperations(schema: GraphQLSchema): KnownOperations {
  // Two levels: in a joined key, a text could imitate another text with a name.
  const known = documentCache<Known>(weightMax, ({ weight }) => weight, operationsMax);
  const countUses = (document: DocumentNode, operationName: string | undefined, operation: Operation): Use => {
    let uses = 1; // the one that added it
    let current = operation;
    return {
      operation,
      next() {
        uses += 1;
        if (uses === compiledFrom) current = compiledIfCertain(schema, document, operationName);
        return current;
      },
    };
  };

  const refused = documentCache<Refused>(refusedWeightMax, ({ weight }) => weight, refusedMax);
  return {
    findErrors: (text) => refused.get(text)?.errors,
    addErrors(document, errors) {
      const text = document.loc?.source.body ?? "";
      if (text !== "") refused.set(text, { weight: weightOfDocument(document), errors });
    },
    find: (text, operationName) => known.get(text)?.uses.get(operationName)?.next(),
    add(document, operationName) {
      const text = document.loc?.source.body ?? "";
      const before = known.get(text);
      const use = before?.uses.get(operationName);
      if (use !== undefined) return use.operation;
      const operation = interpreted(schema, document, operationName);
      const kind = operation.definition?.operation;
      if (text !== "" && (kind === OperationTypeNode.QUERY || kind === OperationTypeNode.MUTATION)) {
        known.set(text, {
          weight: (before?.weight ?? weightOfDocument(document)) + weightOfCompiled(document),
          uses: new Map(before?.uses).set(operationName, countUses(document, operationName, operation)),
        });
      }
      return operation;
    },
  };
}
