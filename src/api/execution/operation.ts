import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  execute,
  type ExecutionResult,
  getOperationAST,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  valueFromASTUntyped,
  visit,
  getNullableType,
  type GraphQLArgument,
  type GraphQLField,
  isInputObjectType,
  isListType,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { Context } from "../../schema/context.js";
import { type Execution, operationNames, type OperationNames } from "../../schema/operationNames.js";
import { type ScopedField, scopedFields } from "./guardScopes.js";
import { inputShape, type InputShape, type Variables } from "./input/inputShape.js";

/** Parsed and valid; can be executed any number of times. */
export interface Operation {
  readonly schema: GraphQLSchema;
  /** Undefined without an operation of that name; executing returns the error. */
  readonly definition: OperationDefinitionNode | undefined;
  /** Undefined if `definition` is. */
  readonly names: OperationNames | undefined;
  readonly shape: InputShape | undefined;
  readonly importVariables: readonly TakenVariable[];
  /** Their values are not coerced once their shape has been checked. */
  readonly checkedVariables: readonly TakenVariable[];
  /** The root fields of a mutation; none for other operations. */
  readonly scopedFields: readonly ScopedField[];
  readonly execution: Exclude<Execution, "yoga">;
  /** Neither checks variables nor presents errors. May throw. `root` is a subscription's payload. */
  readonly run: (variables: Variables, context: Context, root?: object) => Promise<ExecutionResult> | ExecutionResult;
}

type Prepare = (schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined) => Operation;

export const interpreted: Prepare = (schema, document, operationName) => {
  const definition = getOperationAST(document, operationName) ?? undefined;
  const taken = (taking: Parameters<typeof variablesTaken>[0]) =>
    definition === undefined ? [] : variablesTaken(taking, schema, document, definition);
  return {
    schema,
    definition,
    names: definition === undefined ? undefined : operationNames(schema, document, definition),
    shape: definition && inputShape(schema, definition),
    importVariables: taken("takesAsSent"),
    checkedVariables: taken("takesChecked"),
    scopedFields: definition === undefined ? [] : scopedFields(schema, document, definition),
    execution: "interpreted",
    run: (variableValues, contextValue, rootValue) =>
      execute({ schema, document, rootValue, variableValues, operationName, contextValue }),
  };
};

/**
 * Compiled by graphql-jit, which takes milliseconds and saves most of the time of each execution. For documents of the service
 * itself, which have one root field and variables for all of its arguments.
 */
export const compiled: Prepare = (schema, document, operationName) => {
  const operation = interpreted(schema, document, operationName);
  const query = compileQuery(schema, document, operationName);
  if (!isCompiledQuery(query)) return operation; // graphql-js returns the error
  const withDefaults = defaultsOf(operation.definition);
  return {
    ...operation,
    execution: "compiled",
    run: (variables, context, root) => query.query(root, context, withDefaults(variables)),
  };
};

/** Compiles operations of callers where the answer is certain to stay the same. */
export const compiledIfCertain: Prepare = (schema, document, operationName) => {
  const operation = interpreted(schema, document, operationName);
  const { definition } = operation;
  const isCertain = definition !== undefined && isCompilable(document, definition);
  return isCertain ? compiled(schema, document, operationName) : operation;
};

/** graphql-jit 0.8 ignores defaults of variables of a non-null type. */
function defaultsOf(definition: OperationDefinitionNode | undefined): (variables: Variables) => Variables {
  const defaults = (definition?.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  );
  if (defaults.length === 0) return (variables) => variables;
  return (variables) => ({ ...Object.fromEntries(defaults), ...variables });
}

/**
 * Whether graphql-jit 0.8 is certain to execute an operation of a caller as graphql-js does. What is not certain is
 * interpreted, which is never wrong. The reports are issues of zalando-incubator/graphql-jit; those without a number have not
 * been reported. Excluded are
 * - subscriptions, and mutations of several fields, which go on differently after one that fails;
 * - texts in the document: they become parts of the generated code, which runs some of them;
 * - directives: `@skip` and `@include` are applied to every place of a fragment's fields (#111, #118, #166), and null for a
 *   variable of `if` with a default is no error;
 * - variables inside objects and lists: an absent one becomes null (#91, #230), and null is accepted where the schema does
 *   not allow it;
 * - defaults of variables: they are ignored for types that are not null, and null is accepted for those that are not (#142);
 * - names that every object of JavaScript has: variables and results are ordinary objects;
 * - introspection, which is rarely repeated, and slow to compile.
 */
function isCompilable(document: DocumentNode, { operation, selectionSet }: OperationDefinitionNode): boolean {
  const [field, another] = selectionSet.selections;
  const isOneField = field?.kind === Kind.FIELD && another === undefined;
  const isCertain = operation === OperationTypeNode.QUERY || (operation === OperationTypeNode.MUTATION && isOneField);
  return isCertain && !some(document, isUncertain);
}

function isUncertain(node: ASTNode): boolean {
  switch (node.kind) {
    case Kind.DIRECTIVE:
    case Kind.STRING:
      return true;
    case Kind.VARIABLE_DEFINITION:
      return node.defaultValue !== undefined;
    case Kind.OBJECT:
    case Kind.LIST:
      return some(node, ({ kind }) => kind === Kind.VARIABLE);
    case Kind.NAME:
      return node.value in Object.prototype || node.value === "__schema" || node.value === "__type";
    default:
      return false;
  }
}

function some(node: ASTNode, holds: (node: ASTNode) => boolean): boolean {
  let isFound = false;
  visit(node, {
    enter(within) {
      if (!holds(within)) return undefined;
      isFound = true;
      return BREAK;
    },
  });
  return isFound;
}

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
function variablesTaken(
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
