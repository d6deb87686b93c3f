import { type DocumentNode, execute, type ExecutionResult, getOperationAST, type GraphQLSchema } from "graphql";
import { validationFailed } from "../errors.js";
import type { Context } from "./context.js";
import { presentError } from "./errors.js";
import { checkVariables, type Variables } from "./variables.js";

/** An operation that has been parsed and validated, with its input. */
export interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables: Variables;
  /** Whether a list must come as an array: so in REST. */
  readonly arraysOnly?: boolean;
}

/** The one pipeline of both styles: check the variables, execute, make errors presentable. It never throws. */
export async function executeOperation(operation: Operation, context: Context): Promise<ExecutionResult> {
  const { schema, document, operationName, variables, arraysOnly = false } = operation;
  const definition = getOperationAST(document, operationName);
  if (definition) {
    const problems = checkVariables(schema, definition, variables, { arraysOnly });
    if (problems.total > 0) return { errors: [presentError(validationFailed(problems), context)] };
  }
  try {
    const result = await execute({
      schema,
      document,
      variableValues: variables,
      operationName,
      contextValue: context,
    });
    return result.errors === undefined
      ? result
      : { ...result, errors: result.errors.map((error) => presentError(error, context)) };
  } catch (error) {
    return { errors: [presentError(error, context)] };
  }
}
