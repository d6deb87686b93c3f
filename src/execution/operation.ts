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
import { type OperationNames, operationNames } from "../schema/operationNames.js";
import { type ImportVariable, importVariables } from "./importVariables.js";
import { type InputShape, inputShape, type Variables } from "./inputShape.js";

/** An operation that has been parsed and validated, to be run any number of times. */
export interface Operation {
  readonly schema: GraphQLSchema;
  /** Undefined where the document has no operation of that name; running it gives the error. */
  readonly definition: OperationDefinitionNode | undefined;
  /** Undefined where `definition` is. */
  readonly names: OperationNames | undefined;
  /** The shape that it wants of its variables; undefined where `definition` is. */
  readonly shape: InputShape | undefined;
  /** Variables whose values imports take as they were sent. */
  readonly importVariables: readonly ImportVariable[];
  /** Runs it as it is: variables are not checked, errors not made presentable. May throw. `root` is a subscription's payload. */
  readonly run: (variables: Variables, context: Context, root?: object) => Promise<ExecutionResult> | ExecutionResult;
}

type Prepare = (schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined) => Operation;

/** An operation that graphql-js runs. */
export const interpreted: Prepare = (schema, document, operationName) => {
  const definition = getOperationAST(document, operationName) ?? undefined;
  return {
    schema,
    definition,
    names: definition === undefined ? undefined : operationNames(schema, document, definition),
    shape: definition && inputShape(schema, definition),
    importVariables: definition === undefined ? [] : importVariables(schema, document, definition),
    run: (variableValues, contextValue, rootValue) =>
      execute({ schema, document, rootValue, variableValues, operationName, contextValue }),
  };
};

/** An operation compiled to JavaScript (graphql-jit), which takes some milliseconds and saves most of the work of each run. */
export const compiled: Prepare = (schema, document, operationName) => {
  const operation = interpreted(schema, document, operationName);
  if (!isCompilable(document)) return operation;
  const query = compileQuery(schema, document, operationName);
  if (!isCompiledQuery(query)) return operation; // not of a valid document; graphql-js then says what is wrong
  const withDefaults = defaultsOf(operation.definition);
  return { ...operation, run: (variables, context, root) => query.query(root, context, withDefaults(variables)) };
};

/** Fills in what an operation gives variables by default: graphql-jit 0.8 misses variables of a non-null type that are left out. */
function defaultsOf(definition: OperationDefinitionNode | undefined): (variables: Variables) => Variables {
  const defaults = (definition?.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  );
  if (defaults.length === 0) return (variables) => variables;
  return (variables) => ({ ...Object.fromEntries(defaults), ...variables });
}
