import { type DocumentNode, type GraphQLError, type GraphQLSchema, OperationTypeNode } from "graphql";
import { anonymousReporting, presentError } from "../schema/errors.js";
import { compiledIfCertain, interpreted, type Operation } from "./operation.js";
import { validateBounded } from "./validation/limits.js";
import { parseBounded } from "./validation/parse.js";
import { documentCache, weightOfCompiled, weightOfDocument } from "./weight.js";

/** Cached documents, and their total weight with that of their operations: up to 80 MB. */
const documentsMax = 1_000;
const weightMax = 62_500;
const compiledFrom = 3;

/** Operations that need not be parsed, validated and planned again. */
export interface KnownOperations {
  /** @throws {GraphQLError} for invalid syntax or exceeded limits, and RangeError where it is nested too deeply */
  parse(text: string): DocumentNode;
  /** The errors of a parsed document, which the caller may change. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /** The errors of an invalid document that was validated before, as callers get them. */
  findErrors(text: string): readonly GraphQLError[] | undefined;
  /** A query or mutation that was added before. */
  find(text: string, operationName: string | undefined): Operation | undefined;
  /** Of a valid document. Not compiled: Yoga locates errors by graphql-js's nodes. Queries and mutations are cached. */
  add(document: DocumentNode, operationName: string | undefined): Operation;
}

interface Known {
  readonly document: DocumentNode;
  readonly weight: number;
  readonly errors: readonly GraphQLError[];
  readonly uses: Map<string | undefined, Use>;
}

interface Use {
  readonly first: Operation;
  current: Operation;
  count: number;
}

/** @param options.suggestions whether errors may suggest names of the schema */
export function createKnownOperations(
  schema: GraphQLSchema,
  { suggestions = true }: { readonly suggestions?: boolean } = {},
): KnownOperations {
  // Two levels: in a joined key, a text could imitate another text with a name.
  const known = documentCache<Known>(weightMax, ({ weight }) => weight, documentsMax);
  const entryOf = (document: DocumentNode, errors: readonly GraphQLError[] = []): Known => ({
    document,
    weight: weightOfDocument(document),
    errors,
    uses: new Map(),
  });
  return {
    parse: (text) => known.get(text)?.document ?? parseBounded(text),
    validate(document) {
      const text = textOf(document);
      const before = known.get(text);
      if (before?.document === document && before.errors.length === 0) return [];
      const errors = validateBounded(schema, document, undefined, { hideSuggestions: !suggestions });
      const presented = errors.map((error) => presentError(error, anonymousReporting));
      if (text !== "") known.set(text, entryOf(document, presented));
      return errors;
    },
    findErrors(text) {
      const { errors = [] } = known.get(text) ?? {};
      return errors.length === 0 ? undefined : errors;
    },
    find(text, operationName) {
      const entry = known.get(text);
      const use = entry?.uses.get(operationName);
      if (entry === undefined || use === undefined) return undefined;
      use.count += 1;
      if (use.count === compiledFrom) use.current = compiledIfCertain(schema, entry.document, operationName);
      return use.current;
    },
    add(document, operationName) {
      const text = textOf(document);
      const entry = known.get(text) ?? entryOf(document);
      const use = entry.uses.get(operationName);
      if (use !== undefined) return use.first;
      const first = interpreted(schema, document, operationName);
      const kind = first.definition?.operation;
      if (text !== "" && (kind === OperationTypeNode.QUERY || kind === OperationTypeNode.MUTATION)) {
        entry.uses.set(operationName, { first, current: first, count: 1 });
        known.set(text, { ...entry, weight: entry.weight + weightOfCompiled(document) });
      }
      return first;
    },
  };
}

function textOf({ loc }: DocumentNode): string {
  return loc?.source.body ?? "";
}
