import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type SelectionSetNode,
} from "graphql";

/** What an operation is called in the access log, in metrics and in traces. None of it comes from a value. */
export interface OperationNames {
  readonly style: "graphql" | "rest";
  readonly kind: `${OperationTypeNode}`;
  /** For people: `query Shop: product, products`. */
  readonly label: string;
  /** Its root fields, each once, as `Query.product`; `other` for those that every schema has. */
  readonly fields: readonly string[];
}

/** What is longer, or looks like one, might be an access token. */
const shownName = /^(?!.*vt_)\w{1,40}$/iu;
const fieldsShownMax = 5;

/** The names of an operation: kind, name and root fields. They are worked out once for each operation. */
export function operationNames(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  { operation, name, selectionSet }: OperationDefinitionNode,
): OperationNames {
  const root = schema.getRootType(operation);
  const known = root?.getFields() ?? {};
  const fragments = new Map(
    definitions.flatMap((part) => (isFragment(part) ? [[part.name.value, part] as const] : [])),
  );
  const found = [...rootFields(selectionSet, fragments)].filter((field) => Object.hasOwn(known, field));
  const shown = found.length > fieldsShownMax ? [...found.slice(0, fieldsShownMax), "…"] : found;
  const named = name !== undefined && shownName.test(name.value) ? ` ${name.value}` : "";
  return {
    style: "graphql",
    kind: operation,
    label: `${operation}${named}${shown.length === 0 ? "" : `: ${shown.join(", ")}`}`,
    fields: found.length === 0 ? ["other"] : found.map((field) => `${root?.name}.${field}`),
  };
}

function isFragment(part: DocumentNode["definitions"][number]): part is FragmentDefinitionNode {
  return part.kind === Kind.FRAGMENT_DEFINITION;
}

function rootFields(
  selectionSet: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
  found = new Set<string>(),
): Set<string> {
  for (const selection of selectionSet.selections) {
    if (selection.kind === Kind.FIELD) found.add(selection.name.value);
    else if (selection.kind === Kind.INLINE_FRAGMENT) rootFields(selection.selectionSet, fragments, found);
    else {
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value); // once is enough, and a cycle would never end
      if (fragment !== undefined) rootFields(fragment.selectionSet, fragments, found);
    }
  }
  return found;
}
