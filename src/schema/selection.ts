import {
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type SelectionNode,
} from "graphql";

type Fragments = GraphQLResolveInfo["fragments"];

const found = new WeakMap<FieldNode, boolean>();
const certainOf = new WeakMap<FieldNode, ReadonlySet<string>>();
const longFields = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

/** Whether a field with long texts is selected below this one, even conditionally. */
export function selectsLongTexts({ fieldNodes, fragments, schema }: GraphQLResolveInfo): boolean {
  return fieldNodes.some((node) => {
    let answer = found.get(node);
    if (answer === undefined) {
      answer = hasOneOf(longFieldsOf(schema), node.selectionSet?.selections, fragments);
      found.set(node, answer);
    }
    return answer;
  });
}

/** The long texts that are unconditionally selected below this field. */
export function longTextsCertain({ fieldNodes, fragments, schema }: GraphQLResolveInfo): readonly string[] {
  const names = new Set<string>();
  for (const node of fieldNodes) {
    let certain = certainOf.get(node);
    if (certain === undefined) {
      certain = new Set(namesCertain(longFieldsOf(schema), node.selectionSet?.selections, fragments));
      certainOf.set(node, certain);
    }
    for (const name of certain) names.add(name);
  }
  return [...names];
}

/** Whether nothing but fields of these names is selected below this one, each without fields of its own. */
export function selectsOnly(names: ReadonlySet<string>): (info: GraphQLResolveInfo) => boolean {
  const answers = new WeakMap<FieldNode, boolean>();
  return ({ fieldNodes, fragments }) =>
    fieldNodes.every((node) => {
      let answer = answers.get(node);
      if (answer === undefined) {
        answer = hasOnly(names, node.selectionSet?.selections, fragments);
        answers.set(node, answer);
      }
      return answer;
    });
}

function hasOnly(names: ReadonlySet<string>, selections: readonly SelectionNode[] = [], fragments: Fragments): boolean {
  return selections.every((selection) => {
    if (selection.kind === Kind.FIELD) return names.has(selection.name.value);
    const within = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
    return hasOnly(names, within?.selectionSet.selections, fragments);
  });
}

function* namesCertain(
  names: ReadonlySet<string>,
  selections: readonly SelectionNode[] = [],
  fragments: Fragments,
): Generator<string, void> {
  for (const selection of selections) {
    if (selection.directives !== undefined && selection.directives.length > 0) continue;
    if (selection.kind === Kind.FIELD && names.has(selection.name.value)) yield selection.name.value;
    const within = selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value] : selection;
    yield* namesCertain(names, within?.selectionSet?.selections, fragments);
  }
}

function hasOneOf(
  names: ReadonlySet<string>,
  selections: readonly SelectionNode[] = [],
  fragments: Fragments,
): boolean {
  return selections.some((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      return hasOneOf(names, fragments[selection.name.value]?.selectionSet.selections, fragments);
    }
    const isOne = selection.kind === Kind.FIELD && names.has(selection.name.value);
    return isOne || hasOneOf(names, selection.selectionSet?.selections, fragments);
  });
}

function longFieldsOf(schema: GraphQLSchema): ReadonlySet<string> {
  let names = longFields.get(schema);
  if (names === undefined) {
    const fields = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .flatMap((type) => Object.values(type.getFields()));
    names = new Set(fields.filter(({ extensions }) => extensions.isLong === true).map(({ name }) => name));
    longFields.set(schema, names);
  }
  return names;
}
