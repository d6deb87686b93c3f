import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import { LRUCache } from "lru-cache";
import { anonymousReporting, presentError } from "../../schema/publicErrors.js";
import { compiledIfCertain, interpreted, type Operation } from "./operation.js";
import { validateBounded } from "./validation/limits.js";
import { parseBounded } from "./validation/parse.js";

/** The total weight of cached documents with that of their operations: up to 80 MB. */
const weightMax = 62_500;
const compiledFrom = 3;

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

/** Operations that need not be parsed, validated and planned again. */
export class KnownOperations {
  readonly #schema: GraphQLSchema;
  readonly #hideSuggestions: boolean;
  // Two levels: in a joined key, a text could imitate another text with a name.
  readonly #known: ReturnType<typeof documentCache<Known>>;

  /** @param options.suggestions whether errors may suggest names of the schema */
  constructor(schema: GraphQLSchema, options: { readonly suggestions?: boolean; readonly documentsMax?: number } = {}) {
    const { suggestions = true, documentsMax = 1_000 } = options;
    this.#schema = schema;
    this.#known = documentCache<Known>(weightMax, ({ weight }) => weight, documentsMax);
    this.#hideSuggestions = !suggestions;
  }

  /** @throws {GraphQLError} for invalid syntax or exceeded limits, and RangeError where it is nested too deeply */
  parse(text: string): DocumentNode {
    return this.#known.get(text)?.document ?? parseBounded(text);
  }

  /** The errors of a parsed document, which the caller may change. */
  validate(document: DocumentNode): readonly GraphQLError[] {
    const text = sourceText(document);
    const before = this.#known.get(text);
    if (before?.document === document && before.errors.length === 0) return [];
    const errors = validateBounded(this.#schema, document, undefined, { hideSuggestions: this.#hideSuggestions });
    const presented = errors.map((error) => presentError(error, anonymousReporting));
    if (text !== "") this.#known.set(text, entryOf(document, presented));
    return errors;
  }

  /** The errors of an invalid document that was validated before, as callers get them. */
  findErrors(text: string): readonly GraphQLError[] | undefined {
    const { errors = [] } = this.#known.get(text) ?? {};
    return errors.length === 0 ? undefined : errors;
  }

  /** A query or mutation that was added before. */
  find(text: string, operationName: string | undefined): Operation | undefined {
    const entry = this.#known.get(text);
    const use = entry?.uses.get(operationName);
    if (entry === undefined || use === undefined) return undefined;
    use.count += 1;
    if (use.count === compiledFrom) use.current = compiledIfCertain(this.#schema, entry.document, operationName);
    return use.current;
  }

  /** Of a valid document. Not compiled: Yoga locates errors by graphql-js's nodes. Queries and mutations are cached. */
  add(document: DocumentNode, operationName: string | undefined): Operation {
    const text = sourceText(document);
    const entry = this.#known.get(text) ?? entryOf(document);
    const use = entry.uses.get(operationName);
    if (use !== undefined) return use.first;
    const first = interpreted(this.#schema, document, operationName);
    const kind = first.definition?.operation;
    if (text !== "" && (kind === OperationTypeNode.QUERY || kind === OperationTypeNode.MUTATION)) {
      entry.uses.set(operationName, { first, current: first, count: 1 });
      this.#known.set(text, { ...entry, weight: entry.weight + weightOfCompiled(document) });
    }
    return first;
  }
}

function entryOf(document: DocumentNode, errors: readonly GraphQLError[] = []): Known {
  return { document, weight: weightOfDocument(document), errors, uses: new Map() };
}

function sourceText({ loc }: DocumentNode): string {
  return loc?.source.body ?? "";
}

const entryWeight = 10;

const charactersForOne = 64;

/** Keyed by documents' texts; a unit of weight is a token, about 500 bytes. */
function documentCache<Value extends object>(
  maxSize: number,
  weightOf: (value: Value) => number,
  entriesMax?: number,
): LRUCache<string, Value> {
  return new LRUCache({
    ...(entriesMax !== undefined && { max: entriesMax }),
    maxSize,
    sizeCalculation: (value, text) => Math.ceil(entryWeight + text.length / charactersForOne + weightOf(value)),
  });
}

/** Tokens and nodes take about 100 times the memory of the text. */
function weightOfDocument({ tokenCount = 0 }: DocumentNode): number {
  return tokenCount;
}

/** Each field is a function, once for each spread of its fragment. */
function weightOfCompiled({ definitions }: DocumentNode): number {
  const fragments = new Map<string, SelectionSetNode>();
  for (const part of definitions) {
    if (part.kind === Kind.FRAGMENT_DEFINITION) fragments.set(part.name.value, part.selectionSet);
  }
  const known = new Map<SelectionSetNode, number>();
  const fieldsOf = (selectionSet: SelectionSetNode | undefined): number => {
    if (selectionSet === undefined) return 0;
    let fields = known.get(selectionSet);
    if (fields !== undefined) return fields;
    fields = 0;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) fields += fieldsOf(fragments.get(selection.name.value));
      else fields += fieldsOf(selection.selectionSet) + (selection.kind === Kind.FIELD ? 1 : 0);
    }
    known.set(selectionSet, fields);
    return fields;
  };
  const operations = definitions.filter((part) => part.kind === Kind.OPERATION_DEFINITION);
  return operations.reduce((sum, { selectionSet }) => sum + fieldsOf(selectionSet), 0) / 2;
}
