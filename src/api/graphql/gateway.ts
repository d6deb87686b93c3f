import type { DocumentNode } from "graphql";
import {
  createYoga,
  isAsyncIterable,
  type Plugin,
  type YogaInitialContext,
  type YogaServerInstance,
} from "graphql-yoga";
import { AppError } from "../../errors.js";
import { executeOperation, isWritten, resultText } from "../execution/execute.js";
import { schema } from "./schema.js";
import type { Context } from "../../schema/context.js";
import { anonymousReporting, codeOf, presentError } from "../../schema/publicErrors.js";
import { refusedResponse, withRequestErrorStatus } from "./accepted.js";
import type { KnownOperations } from "../execution/operationCache.js";
import { requireOperation } from "./parameters.js";
import type { Variables } from "../execution/input/inputShape.js";

export const graphqlPath = "/graphql";

/**
 * Serves GraphQL over HTTP by Yoga, for authenticated requests whose body has been read. Subscriptions do not come here.
 *
 * @param known parses, validates and keeps each operation
 */
export function createGateway(known: KnownOperations, plugins: readonly Plugin[]): YogaServerInstance<Context, object> {
  return createYoga<Context>({
    schema,
    graphqlEndpoint: graphqlPath,
    landingPage: false,
    graphiql: false, // src/server/pages/graphiql/graphiql.ts serves it
    cors: false, // src/server/http/exchange.ts sets it
    batching: false,
    multipart: false,
    logging: false,
    maxRequestBodySize: false, // src/server/content/body.ts bounds it
    parserAndValidationCache: false, // src/api/execution/operationCache.ts caches documents
    maskedErrors: { maskError: (error) => presentError(tooDeep(error) ?? error, anonymousReporting) },
    plugins: [parsedOnce(known), sharedPipeline(known), ...plugins],
  });
}

function parsedOnce(known: KnownOperations): Plugin<Context> {
  return {
    onParse({ setParseFn, context }) {
      setParseFn((text: string) => known.parse(text));
      const { operationName } = (context as Partial<YogaInitialContext>).params ?? {};
      return ({ result }) => {
        if (!(result instanceof Error)) requireOperation(result as DocumentNode, operationName);
      };
    },
    onValidate: ({ setValidationFn }) => setValidationFn((_, document) => known.validate(document)),
  };
}

/** Has Yoga execute operations and present errors as REST does. */
function sharedPipeline(known: KnownOperations): Plugin<Context> {
  return {
    onExecutionResult(hook) {
      const { result } = hook;
      if (result === undefined || isAsyncIterable(result) || Array.isArray(result)) return;
      const written = isWritten(result) ? { stringify: resultText as () => string } : undefined; // Yoga also accepts bytes
      if (result.errors === undefined) {
        if (written !== undefined) hook.setResult({ ...result, ...written });
        return;
      }
      // Yoga does not mask validation errors.
      const context = hook.context as unknown as Context;
      const presented = result.errors.map((error) => presentError(error, context));
      context.observation.refused(codeOf(presented));
      const errors = withRequestErrorStatus({ ...result, errors: presented });
      const http = refusedResponse({ ...result, errors });
      const extensions = http === undefined ? {} : { extensions: { ...result.extensions, http } };
      hook.setResult({ ...result, errors, ...extensions, ...written });
    },
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(() => {
        throw new AppError("METHOD_NOT_ALLOWED", "Subscriptions are opened by GET or POST."); // HEAD comes here; graphql.route.ts opens those of GET and POST
      });
    },
    onExecute(hook) {
      hook.setExecuteFn(({ document, operationName, variableValues, contextValue }) => {
        const operation = known.add(document, operationName ?? undefined);
        const variables = (variableValues ?? {}) as Variables;
        return executeOperation(operation, variables, contextValue as Context, { execution: "yoga" });
      });
    },
  };
}

/** Thousands of levels exhaust the stack of graphql's recursive parser. */
function tooDeep(error: unknown): AppError | undefined {
  return error instanceof RangeError ? new AppError("BAD_REQUEST", "The operation is nested too deeply.") : undefined;
}
