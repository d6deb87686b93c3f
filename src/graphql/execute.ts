import type { ExecutionResult } from "graphql";
import { validationFailed } from "../errors.js";
import type { Context } from "./context.js";
import { codeOf, presentError } from "./errors.js";
import type { Operation } from "./operation.js";
import { setAside } from "./setAside.js";
import { checkVariables, type Variables } from "./variables.js";

interface ExecuteOptions {
  /** Whether a list must come as an array: so in REST. */
  readonly arraysOnly?: boolean;
}

/** The one pipeline of both styles: check the variables, execute, make errors presentable. It never throws. */
export async function executeOperation(
  operation: Operation,
  variables: Variables,
  context: Context,
  options: ExecuteOptions = {},
): Promise<ExecutionResult> {
  const { names } = operation;
  if (names === undefined) return perform(operation, variables, context, options);
  const { observation } = context;
  observation.begins(names);
  const result = await observation.within(names.label, () => perform(operation, variables, context, options));
  observation.ended(names, result.errors === undefined ? undefined : codeOf(result.errors));
  return result;
}

async function perform(
  { schema, definition, isSound, run }: Operation,
  variables: Variables,
  context: Context,
  { arraysOnly = false }: ExecuteOptions,
): Promise<ExecutionResult> {
  if (definition !== undefined && !isSound(variables, arraysOnly)) {
    const others = setAside(schema, definition, variables, { arraysOnly });
    if (others !== undefined && isSound(others.variables, arraysOnly)) {
      return runOperation(run, others.variables, { ...context, aside: others.aside });
    }
    const problems = checkVariables(schema, definition, variables, { arraysOnly });
    if (problems.total > 0) return { errors: [presentError(validationFailed(problems), context)] };
  }
  return runOperation(run, variables, context);
}

async function runOperation(run: Operation["run"], variables: Variables, context: Context): Promise<ExecutionResult> {
  try {
    const result = await run(variables, context);
    if (result.errors === undefined) return result;
    const { data } = result;
    return { errors: result.errors.map((error) => presentError(error, context)), ...(data !== undefined && { data }) };
  } catch (error) {
    return { errors: [presentError(error, context)] };
  }
}
