import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from "graphql";
import { LRUCache } from "lru-cache";
import { compiled, interpreted, type Operation } from "./operation.js";

/** Operations kept, and characters of their documents, in all and of one. Dashboards have tens; whoever sends more pays as at first. */
const operationsMax = 1_000;
const charactersMax = 4_000_000;
const documentMax = 100_000;
/** An operation sent once or twice is not worth compiling. */
const compiledFrom = 3;

/** Operations that were found valid and run before, so that the same text need not be parsed, validated, planned again. */
export interface KnownOperations {
  find(text: string, operationName: string | undefined): Operation | undefined;
  /** Remembers a query or mutation, by the text that its document was parsed from. */
  add(document: DocumentNode, operationName: string | undefined): void;
}

export function createKnownOperations(schema: GraphQLSchema): KnownOperations {
  const known = new LRUCache<string, () => Operation>({
    max: operationsMax,
    maxSize: charactersMax,
    maxEntrySize: documentMax,
    sizeCalculation: (_, key) => key.length,
  });
  return {
    find: (text, operationName) => known.get(keyOf(text, operationName))?.(),
    add(document, operationName) {
      const text = document.loc?.source.body;
      if (text === undefined) return;
      const operation = interpreted(schema, document, operationName);
      const kind = operation.definition?.operation;
      if (kind !== OperationTypeNode.QUERY && kind !== OperationTypeNode.MUTATION) return;
      let uses = 1; // the one that made it known
      let current = operation;
      known.set(keyOf(text, operationName), () => {
        uses += 1;
        if (uses === compiledFrom) current = compiled(schema, document, operationName);
        return current;
      });
    },
  };
}

function keyOf(text: string, operationName: string | undefined): string {
  return `${operationName ?? ""}\0${text}`; // no name has a NUL
}
