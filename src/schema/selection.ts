import { type FieldNode, type GraphQLResolveInfo, Kind, type SelectionNode } from "graphql";

type Fragments = GraphQLResolveInfo["fragments"];

/** What was found for each place in the text of an operation; operations are kept, so that it is looked for once. */
const found = new WeakMap<FieldNode, boolean>();
/** Fields with texts of kilobytes. */
const longFields: ReadonlySet<string> = new Set(["description", "images"]);

/**
 * Whether products are asked for with their long texts: the description or the images, at any depth below this field. A field
 * that is skipped or included by a variable counts as asked for.
 */
export function asksForLongTexts({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  return fieldNodes.some((node) => {
    let answer = found.get(node);
    if (answer === undefined) found.set(node, (answer = hasLongField(node.selectionSet?.selections, fragments)));
    return answer;
  });
}

function hasLongField(selections: readonly SelectionNode[] = [], fragments: Fragments): boolean {
  return selections.some((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      return hasLongField(fragments[selection.name.value]?.selectionSet.selections, fragments);
    }
    const isLong = selection.kind === Kind.FIELD && longFields.has(selection.name.value);
    return isLong || hasLongField(selection.selectionSet?.selections, fragments);
  });
}
