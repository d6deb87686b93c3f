import {
  type FieldNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type SelectionNode,
} from "graphql";

type Fragments = GraphQLResolveInfo["fragments"];

/** What was found for each place in the text of an operation; operations are kept, so that it is looked for once. */
const found = new WeakMap<FieldNode, boolean>();
/** Names of the fields that are marked `isLong`. */
const longFields = new WeakMap<GraphQLSchema, ReadonlySet<string>>();

/**
 * Whether a field that holds long texts is asked for, at any depth below this one. A field that is skipped or included by a
 * variable counts as asked for.
 */
export function asksForLongTexts({ fieldNodes, fragments, schema }: GraphQLResolveInfo): boolean {
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
