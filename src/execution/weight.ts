import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";
import { LRUCache } from "lru-cache";

const entryWeight = 10;
const charactersForOne = 64;

/** Keyed by documents' texts; a unit of weight is a token, about 500 bytes. */
export function documentCache<Value extends object>(
  weightMax: number,
  weightOf: (value: Value) => number,
  entriesMax?: number,
): LRUCache<string, Value> {
  return new LRUCache({
    ...(entriesMax !== undefined && { max: entriesMax }),
    maxSize: weightMax,
    sizeCalculation: (value, text) => Math.ceil(entryWeight + text.length / charactersForOne + weightOf(value)),
  });
}

/** Tokens and nodes take about 100 times the memory of the text. */
export function weightOfDocument({ tokenCount = 0 }: DocumentNode): number {
  return tokenCount;
}

/** Each field is a function, once for each spread of its fragment. */
export function weightOfCompiled({ definitions }: DocumentNode): number {
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
