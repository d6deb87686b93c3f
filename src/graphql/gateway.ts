import { type DocumentNode, validate } from "graphql";
import { createYoga, type Plugin, type YogaServerInstance } from "graphql-yoga";
import { LRUCache } from "lru-cache";
import { AppError } from "../errors.js";
import { explainNotAcceptable } from "./acceptable.js";
import { schema } from "./schema.js";
import type { Context } from "./context.js";
import { codeOf, presentError } from "./errors.js";
import { executeOperation } from "./execute.js";
import { rulesFirst } from "./limits.js";
import { interpreted } from "./operation.js";
import type { KnownOperations } from "./operations.js";
import { parseBounded } from "./parse.js";
import { refusedResponse } from "./rateLimit.js";
import type { Variables } from "./variables.js";

export const graphqlPath = "/graphql";

/**
 * GraphQL over HTTP by Yoga. Who calls comes with the context; the body has been read already.
 *
 * @param known is told of each operation found valid
 * @param options.suggestions whether errors may say which names of the schema are like an unknown one
 * @param options.plugins what becomes of answers on their way out
 */
export function createGateway(
  known: KnownOperations,
  { suggestions, plugins }: { readonly suggestions: boolean; readonly plugins: readonly Plugin[] },
): YogaServerInstance<Context, object> {
  return createYoga<Context>({
    schema,
    graphqlEndpoint: graphqlPath,
    landingPage: false,
    graphiql: false, // http/pages.graphiql.ts, which needs no context
    cors: false, // http/cors.ts does it, for every path alike
    batching: false,
    multipart: false,
    logging: false,
    maxRequestBodySize: false, // http/body.ts has bounded it
    parserAndValidationCache: { documentCache: boundedCache(), errorCache: boundedCache() },
    maskedErrors: { maskError: (error) => presentError(tooDeep(error) ?? error, anonymousReporting) },
    plugins: [limited(suggestions), onePipeline(known), explainNotAcceptable, ...plugins],
  });
}

/** What Yoga remembers of operations, by their text; its own cache would count them, whatever their length. */
function boundedCache<Value extends object>(): LRUCache<string, Value> {
  return new LRUCache({ maxSize: 4_000_000, maxEntrySize: 100_000, sizeCalculation: (_, text) => text.length + 1 });
}

/** Holds operations to the limits. What is above them, no other rule looks at. */
function limited(suggestions: boolean): Plugin<Context> {
  return {
    onParse: ({ setParseFn }) => setParseFn(parseBounded),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((within, document, rules) => {
        const errors = validate(within, document, rulesFirst);
        return errors.length > 0 ? errors : validate(within, document, rules, { hideSuggestions: !suggestions });
      }),
  };
}

/** Has Yoga execute operations, and present errors, the way REST does. */
function onePipeline(known: KnownOperations): Plugin<Context> {
  return {
    onExecutionResult(hook) {
      const { result } = hook;
      // What validation finds passes no mask.
      if (result === undefined || !("errors" in result) || result.errors === undefined) return;
      const context = hook.context as unknown as Context;
      const errors = result.errors.map((error) => presentError(error, context));
      context.observation.refused(codeOf(errors));
      const http = refusedResponse({ ...result, errors });
      hook.setResult({ ...result, errors, ...(http !== undefined && { extensions: { ...result.extensions, http } }) });
    },
    onSubscribe({ args: { document, operationName, contextValue } }) {
      const { names } = interpreted(schema, document as DocumentNode, operationName ?? undefined);
      if (names !== undefined) (contextValue as Context).observation.begins(names);
    },
    onExecute(hook) {
      hook.setExecuteFn(({ document, operationName, variableValues, contextValue }) => {
        known.add(document, operationName ?? undefined);
        const operation = interpreted(schema, document, operationName ?? undefined);
        return executeOperation(operation, (variableValues ?? {}) as Variables, contextValue as Context);
      });
    },
  };
}

/** Operations of many thousand levels exhaust the stack of graphql's parser, which descends a level a call. */
function tooDeep(error: unknown): AppError | undefined {
  return error instanceof RangeError ? new AppError("BAD_REQUEST", "The operation is nested too deeply.") : undefined;
}

/** For errors outside of an operation, all of them GraphQL's own. */
const anonymousReporting = {
  requestId: "unknown",
  reportError: (error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)),
};
