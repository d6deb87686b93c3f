import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from "graphql";
import { compiled, interpreted, type Operation } from "./operation.js";
import { documentCache, weightOfCompiled, weightOfDocument } from "./weight.js";

/** Operations kept, and what they weigh in all: up to 80 MB. Dashboards have tens; whoever sends more pays as at first. */
const operationsMax = 1_000;
const weightMax = 62_500;
/** Characters of one document. */
const documentMax = 100_000;
/** An operation sent once or twice is not worth compiling. */
const compiledFrom = 3;

/** Operations that were found valid and run before, so that the same text need not be parsed, validated, planned again. */
export interface KnownOperations {
  find(text: string, operationName: string | undefined): Operation | undefined;
  /**
   * The operation of a valid document, to be run by Yoga, which can place an error in the text only by GraphQL's own nodes:
   * it is not compiled. A query or mutation is remembered, by the text that the document was parsed from.
   */
  add(document: DocumentNode, operationName: string | undefined): Operation;
}

interface Known {
  readonly weight: number;
  readonly operation: Operation;
  /** As it is to be run now: from some use on, compiled. */
  use(): Operation;
}

export function createKnownOperations(schema: GraphQLSchema): KnownOperations {
  const known = documentCache<Known>(weightMax, ({ weight }) => weight, operationsMax);
  const remember = (text: string, document: DocumentNode, operationName: string | undefined, operation: Operation) => {
    let uses = 1; // the one that made it known
    let current = operation;
    known.set(keyOf(text, operationName), {
      weight: weightOfDocument(document) + weightOfCompiled(document),
      operation,
      use() {
        uses += 1;
        if (uses === compiledFrom) current = compiled(schema, document, operationName);
        return current;
      },
    });
  };

  return {
    find: (text, operationName) => known.get(keyOf(text, operationName))?.use(),
    add(document, operationName) {
      const text = document.loc?.source.body ?? "";
      const before = known.get(keyOf(text, operationName));
      if (before !== undefined) return before.operation;
      const operation = interpreted(schema, document, operationName);
      const kind = operation.definition?.operation;
      const isKept = kind === OperationTypeNode.QUERY || kind === OperationTypeNode.MUTATION;
      if (isKept && text !== "" && text.length < documentMax) remember(text, document, operationName, operation);
      return operation;
    },
  };
}

/** An empty name is the name of no operation, and not the same as none. */
function keyOf(text: string, operationName: string | undefined): string {
  return operationName === undefined ? text : `${operationName}\0${text}`; // no name or document has a NUL
}
