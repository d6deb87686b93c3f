import {
  type DocumentNode,
  getNullableType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from "graphql";

/** A variable that is nothing but an argument which imports take as it was sent. */
export interface ImportVariable {
  readonly name: string;
  readonly kind: "list" | "object" | "text";
  /** A value that GraphQL takes for the original; it holds the placeholder. */
  readonly standIn: (placeholder: string) => unknown;
}

/** What an input type carries in its extensions: a value of the type that holds a placeholder. */
type MakeStandIn = (placeholder: string) => object;

/** An argument of a mutation, as imports have it. */
interface ImportArgument extends Omit<ImportVariable, "name"> {
  readonly field: string;
  readonly argument: string;
}

/**
 * The variables of an operation that imports take as they were sent: with their own checks, which find all that GraphQL's would
 * and more, and without GraphQL making another copy of each value. A variable that is used for anything else is not one.
 */
export function importVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
): readonly ImportVariable[] {
  if (operation !== OperationTypeNode.MUTATION || variableDefinitions.length === 0) return [];
  const wanted = importArguments(schema);
  const uses = new Map<string, (ImportArgument | undefined)[]>();
  const note = (name: string, use: ImportArgument | undefined) => uses.set(name, [...(uses.get(name) ?? []), use]);
  visit(document, {
    VariableDefinition: () => false,
    Field: ({ name, arguments: given = [] }) => {
      for (const { name: argument, value } of given) {
        const use = wanted.find((one) => one.field === name.value && one.argument === argument.value);
        if (use !== undefined && value.kind === Kind.VARIABLE) note(value.name.value, use);
      }
    },
    Variable: ({ name }) => note(name.value, undefined), // each use once more: those that were noted above twice
  });
  return variableDefinitions.flatMap(({ variable: { name } }) => {
    const all = uses.get(name.value) ?? [];
    const use = all.find((one) => one !== undefined);
    const isOnlyThat = use !== undefined && all.length === 2 * all.filter((one) => one === use).length;
    return isOnlyThat ? [{ name: name.value, kind: use.kind, standIn: use.standIn }] : [];
  });
}

/** Mutations say in their extensions which argument they take as it was sent. */
function importArguments(schema: GraphQLSchema): readonly ImportArgument[] {
  return Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap((field: GraphQLField<unknown, unknown>) => {
    const argument = field.args.find(({ name }) => name === field.extensions["takesAsSent"]);
    return argument === undefined ? [] : [{ field: field.name, argument: argument.name, ...kindOf(argument) }];
  });
}

function kindOf({ type }: GraphQLArgument): Pick<ImportVariable, "kind" | "standIn"> {
  const nullable = getNullableType(type);
  const item = isListType(nullable) ? getNullableType(nullable.ofType) : nullable;
  if (!isInputObjectType(item)) return { kind: "text", standIn: (placeholder) => placeholder };
  const make = item.extensions["standIn"] as MakeStandIn;
  return isListType(nullable)
    ? { kind: "list", standIn: (placeholder) => [make(placeholder)] }
    : { kind: "object", standIn: make };
}
