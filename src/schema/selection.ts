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
const longFields = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

/** Whether a field with long texts is selected below this one; conditional selections count. */
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
