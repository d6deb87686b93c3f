import type { DocumentNode } from "graphql";
import { createYoga, isAsyncIterable, type Plugin, type YogaServerInstance } from "graphql-yoga";
import { AppError } from "../errors.js";
import { explainNotAcceptable } from "./acceptable.js";
import { isWritten, resultText } from "../execution/answerText.js";
import { schema } from "./schema.js";
import type { Context } from "../schema/context.js";
import { codeOf, presentError } from "../schema/errors.js";
import { executeOperation } from "../execution/execute.js";
import { refusedResponse, withRequestErrorStatus } from "./httpStatus.js";
import { validateBounded } from "../execution/limits.js";
import type { KnownOperations } from "../execution/operationCache.js";
import { parseBounded } from "../execution/parse.js";
import type { Variables } from "../execution/inputShape.js";
import { resultsOf } from "./subscription.js";
import type { KnownSubscriptions } from "./subscriptions.js";
import { documentCache, weightOfDocument } from "../execution/weight.js";

export const graphqlPath = "/graphql";

/**
 * GraphQL over HTTP by Yoga. Who calls comes with the context; the body has been read already.
 *
 * @param known is told of each operation found valid
 * @param subscriptions likewise
 * @param options.suggestions whether errors may say which names of the schema are like an unknown one
 * @param options.plugins what becomes of answers on their way out
 */
export function createGateway(
  known: KnownOperations,
  subscriptions: KnownSubscriptions,
  { suggestions, plugins }: { readonly suggestions: boolean; readonly plugins: readonly Plugin[] },
): YogaServerInstance<Context, object> {
  return createYoga<Context>({
    schema,
    graphqlEndpoint: graphqlPath,
    landingPage: false,
    graphiql: false, // http/pages/graphiql.ts serves it
    cors: false, // http/cors.ts does it, for every path alike
    batching: false,
    multipart: false,
    logging: false,
    maxRequestBodySize: false, // http/content/body.ts has bounded it
    parserAndValidationCache: {
      documentCache: documentCache(documentsWeightMax, weightOfDocument),
      errorCache: { get: () => undefined, set: () => undefined }, // nobody sends the same mistake all day
      validationCache: false, // likewise; limited() remembers what is valid
    },
    maskedErrors: { maskError: (error) => presentError(tooDeep(error) ?? error, anonymousReporting) },
    plugins: [limited(suggestions), onePipeline(known, subscriptions), explainNotAcceptable, ...plugins],
  });
}

/** Documents that Yoga keeps: some 10 MB. */
const documentsWeightMax = 20_000;

/** Holds operations to the limits. */
function limited(suggestions: boolean): Plugin<Context> {
  const valid = new WeakSet<DocumentNode>();
  return {
    onParse: ({ setParseFn }) => setParseFn(parseBounded),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((within, document, rules) => {
        if (valid.has(document)) return [];
        const errors = validateBounded(within, document, rules, { hideSuggestions: !suggestions });
        if (errors.length === 0) valid.add(document);
        return errors;
      }),
  };
}

/** Has Yoga execute operations, and present errors, the way REST does. */
function onePipeline(known: KnownOperations, subscriptions: KnownSubscriptions): Plugin<Context> {
  return {
    onExecutionResult(hook) {
      const { result } = hook;
      if (result === undefined || isAsyncIterable(result) || Array.isArray(result)) return;
      const written = isWritten(result) ? { stringify: resultText as () => string } : undefined; // Yoga sends bytes as well
      if (result.errors === undefined) {
        if (written !== undefined) hook.setResult({ ...result, ...written });
        return;
      }
      // What validation finds passes no mask.
      const context = hook.context as unknown as Context;
      const presented = result.errors.map((error) => presentError(error, context));
      context.observation.refused(codeOf(presented));
      const errors = withRequestErrorStatus({ ...result, errors: presented });
      const http = refusedResponse({ ...result, errors });
      const extensions = http === undefined ? {} : { extensions: { ...result.extensions, http } };
      hook.setResult({ ...result, errors, ...extensions, ...written });
    },
    onSubscribe({ args: { document, operationName }, setSubscribeFn }) {
      const subscription = subscriptions.of(document as DocumentNode, operationName ?? undefined);
      setSubscribeFn(async ({ variableValues, contextValue }) =>
        resultsOf(await subscription.start((variableValues ?? {}) as Variables, contextValue as Context)),
      );
    },
    onExecute(hook) {
      hook.setExecuteFn(({ document, operationName, variableValues, contextValue }) => {
        const operation = known.add(document, operationName ?? undefined);
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
