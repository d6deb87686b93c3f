import { mapAsyncIterator } from "@graphql-tools/utils";
import type { ExecutionResult } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { Context } from "./context.js";
import { codeOf, presentError } from "./errors.js";

type Values = AsyncIterable<ExecutionResult>;

/** What a subscription gives, with errors made presentable: that of its start, those in its values, and the one that ends it. */
export async function presentedValues(
  subscribing: unknown,
  context: Context,
): Promise<ExecutionResult | AsyncIterableIterator<ExecutionResult>> {
  try {
    const result = (await subscribing) as ExecutionResult | Values; // as GraphQL's subscribe() has it
    if (!isAsyncIterable(result)) return presented(result, context);
    return mapAsyncIterator(
      result,
      (value) => presented(value, context),
      (error: unknown) => {
        throw present(error, context);
      },
    );
  } catch (error) {
    return { errors: [present(error, context)] };
  }
}

function presented(result: ExecutionResult, context: Context): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => present(error, context)) };
}

function present(error: unknown, context: Context) {
  const shown = presentError(error, context);
  context.observation.refused(codeOf([shown]));
  return shown;
}
