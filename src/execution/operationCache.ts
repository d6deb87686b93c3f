import { type DocumentNode, type GraphQLSchema, OperationTypeNode } from "graphql";
import { compiled, interpreted, type Operation } from "./operation.js";
import { documentCache, weightOfCompiled, weightOfDocument } from "./weight.js";

/** Operations kept, and what they weigh in all: up to 80 MB. Dashboards have tens; whoever sends more pays as at first. */
const operationsMax = 1_000;
const weightMax = 62_500;
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

/** What is known of a text: its operations, by the names they were asked for with. */
interface Known {
  readonly weight: number;
  /** As each is to be run now: from some use on, compiled. An empty name is the name of no operation, and not the same as none. */
  readonly uses: ReadonlyMap<string | undefined, Use>;
}

interface Use {
  readonly operation: Operation;
  next(): Operation;
}

export function createKnownOperations(schema: GraphQLSchema): KnownOperations {
  // By text, and only then by name: joined to one key, a text could be written that looks like another one with a name.
  const known = documentCache<Known>(weightMax, ({ weight }) => weight, operationsMax);
  const countUses = (document: DocumentNode, operationName: string | undefined, operation: Operation): Use => {
    let uses = 1; // the one that made it known
    let current = operation;
    return {
      operation,
      next() {
        uses += 1;
        if (uses === compiledFrom) current = compiled(schema, document, operationName);
        return current;
      },
    };
  };

  return {
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
