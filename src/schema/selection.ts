import {
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type SelectionNode,
} from "graphql";
import { cachedWith } from "../lib/cached.js";

type Fragments = GraphQLResolveInfo["fragments"];
type Selections = readonly SelectionNode[];

const longTexts = oncePerField(
  (selections, { fragments, schema }) => new Set(namesCertain(longFieldsOf(schema), selections, fragments)),
);

/** Whether a field with long texts is selected below this one, even conditionally. */
export const selectsLongTexts = selectsAny(longFieldsOf);

/** The long texts that are unconditionally selected below this field. */
export function longTextsCertain(info: GraphQLResolveInfo): readonly string[] {
  return [...new Set(info.fieldNodes.flatMap((node) => [...longTexts(node, info)]))];
}

/** Whether the selection contains only these leaf fields. */
export function selectsOnly(names: ReadonlySet<string>): (info: GraphQLResolveInfo) => boolean {
  const hasThem = oncePerField((selections, { fragments }) => hasOnly(names, selections, fragments));
  return (info) => info.fieldNodes.every((node) => hasThem(node, info));
}

/** Whether one of these fields is selected below this one, even conditionally. @param namesOf is asked once for each operation */
export function selectsAny(namesOf: (schema: GraphQLSchema) => ReadonlySet<string>) {
  const hasAny = oncePerField((selections, { fragments, schema }) => hasOneOf(namesOf(schema), selections, fragments));
  return (info: GraphQLResolveInfo): boolean => info.fieldNodes.some((node) => hasAny(node, info));
}

/** Computes a value from the selections of a field once for each operation. */
function oncePerField<Value>(compute: (selections: Selections, info: GraphQLResolveInfo) => Value) {
  const known = new WeakMap<FieldNode, Value>();
  return (node: FieldNode, info: GraphQLResolveInfo): Value => {
    let value = known.get(node);
    if (value === undefined) {
      value = compute(node.selectionSet?.selections ?? [], info);
      known.set(node, value);
    }
    return value;
  };
}

/** The selections of a field or a fragment. */
function within(selection: SelectionNode, fragments: Fragments): Selections {
  const node = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
  return node?.selectionSet?.selections ?? [];
}

function hasOnly(names: ReadonlySet<string>, selections: Selections, fragments: Fragments): boolean {
  return selections.every((selection) =>
    selection.kind === Kind.FIELD
      ? names.has(selection.name.value)
      : hasOnly(names, within(selection, fragments), fragments),
  );
}

function* namesCertain(
  names: ReadonlySet<string>,
  selections: Selections,
  fragments: Fragments,
): Generator<string, void> {
  for (const selection of selections) {
    if (selection.directives !== undefined && selection.directives.length > 0) continue;
    if (selection.kind === Kind.FIELD && names.has(selection.name.value)) yield selection.name.value;
    yield* namesCertain(names, within(selection, fragments), fragments);
  }
}

function hasOneOf(names: ReadonlySet<string>, selections: Selections, fragments: Fragments): boolean {
  return selections.some(
    (selection) =>
      (selection.kind === Kind.FIELD && names.has(selection.name.value)) ||
      hasOneOf(names, within(selection, fragments), fragments),
  );
}

function longFieldsOf(schema: GraphQLSchema): ReadonlySet<string> {
  return cachedWith(schema, "longFields", () => {
    const fields = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) => Object.values(type.getFields()));
    return new Set(fields.filter(({ extensions }) => extensions.isLong === true).map(({ name }) => name));
  });
}
