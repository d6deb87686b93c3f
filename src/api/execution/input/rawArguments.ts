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

/** Used only as an argument that its resolver reads in its original form. */
export interface TakenVariable {
  readonly name: string;
  readonly kind: "list" | "object" | "text";
  /** Valid for GraphQL, with the placeholder of the original. */
  readonly placeholderValue: (placeholder: string) => unknown;
}

type MakePlaceholderValue = (placeholder: string) => object;

/**
 * What a field's extension says of its argument with this name: that an import checks the value itself, more strictly than
 * GraphQL would; or that the resolver takes the value as it is once its shape has been checked.
 */
type Taking = "takesAsSent" | "takesChecked";

interface TakenArgument extends Omit<TakenVariable, "name"> {
  readonly field: string;
  readonly argument: string;
}

/** Variables whose values GraphQL does not copy one by one. One that is also used elsewhere is not included. */
export function variablesTaken(
  taking: Taking,
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
): readonly TakenVariable[] {
  if (operation !== OperationTypeNode.MUTATION || variableDefinitions.length === 0) return [];
  const wanted = argumentsTaken(taking, schema);
  const uses = new Map<string, (TakenArgument | undefined)[]>();
  const note = (name: string, use: TakenArgument | undefined) => uses.set(name, [...(uses.get(name) ?? []), use]);
  visit(document, {
    VariableDefinition: () => false,
    Field: ({ name, arguments: given = [] }) => {
      for (const { name: argument, value } of given) {
        const use = wanted.find((one) => one.field === name.value && one.argument === argument.value);
        if (use !== undefined && value.kind === Kind.VARIABLE) note(value.name.value, use);
      }
    },
    Variable: ({ name }) => note(name.value, undefined), // counts those noted above twice
  });
  return variableDefinitions.flatMap(({ variable: { name } }) => {
    const all = uses.get(name.value) ?? [];
    const use = all.find((one) => one !== undefined);
    const isOnlyThat = use !== undefined && all.length === 2 * all.filter((one) => one === use).length;
    return isOnlyThat ? [{ name: name.value, kind: use.kind, placeholderValue: use.placeholderValue }] : [];
  });
}

function argumentsTaken(taking: Taking, schema: GraphQLSchema): readonly TakenArgument[] {
  return Object.values(schema.getMutationType()?.getFields() ?? {}).flatMap((field: GraphQLField<unknown, unknown>) => {
    const argument = field.args.find(({ name }) => name === field.extensions[taking]);
    return argument === undefined ? [] : [{ field: field.name, argument: argument.name, ...kindOf(argument) }];
  });
}

function kindOf({ type }: GraphQLArgument): Pick<TakenVariable, "kind" | "placeholderValue"> {
  const nullable = getNullableType(type);
  const item = isListType(nullable) ? getNullableType(nullable.ofType) : nullable;
  if (!isInputObjectType(item)) return { kind: "text", placeholderValue: (placeholder) => placeholder };
  const make = item.extensions["placeholderValue"] as MakePlaceholderValue;
  return isListType(nullable)
    ? { kind: "list", placeholderValue: (placeholder) => [make(placeholder)] }
    : { kind: "object", placeholderValue: make };
}
