import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  getOperationAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
  valueFromASTUntyped,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import { isCompilable } from "./compilable.js";
import type { Context } from "../schema/context.js";
import type { Execution } from "../schema/observation.js";
import { type OperationNames, operationNames } from "../schema/operationNames.js";
import { type ScopedField, scopedFields } from "./guardScopes.js";
import { type TakenVariable, variablesTaken } from "./input/takenVariables.js";
import { type InputShape, inputShape, type Variables } from "./input/inputShape.js";

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
