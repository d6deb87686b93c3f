import { createHash } from "node:crypto";
import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  OperationTypeNode,
} from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { ErrorCode } from "../../errors.js";
import { ResponseBudget } from "../../schema/limits/responseBudget.js";
import type { Context } from "../../schema/context.js";
import { codeOf, presentError } from "../../schema/publicErrors.js";
import type { Variables } from "../execution/input/inputShape.js";
import { interpreted, type Operation } from "../execution/operation.js";
import { cachedWith } from "../../lib/cached.js";
import { FairShare } from "../../lib/fairShare.js";
import { yieldInOrder } from "../../lib/streams/eventLoop.js";
import type { StreamFormat } from "./streamFormat.js";
import { plainBodyBytesMax, plainBodyTooLarge } from "../execution/input/rawInputs.js";
import type { KnownOperations } from "../execution/operationCache.js";

interface LiveValue {
  /** The code of its error, if it has one. */
  readonly code: ErrorCode | undefined;
  /** Whether its error ended the subscription. */
  readonly isLast: boolean;
  /** The bytes for a format. They are made once for all streams. */
  framed(format: StreamFormat): Buffer;
}

/** A valid subscription, which can be started any number of times. */
export interface Subscription {
  readonly names: Operation["names"];
  /** @returns the values, or errors that are presented and reported to the observation */
  start(variables: Variables, context: Context): Promise<ExecutionResult | LiveValues>;
}

export type LiveValues = AsyncIterableIterator<LiveValue>;

let subscriptions = 0;

function prepareSubscription(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  executions: FairShare,
): Subscription {
  const operation = interpreted(schema, document, operationName);
  const { names, definition } = operation;
  const id = (subscriptions += 1);
  const execute = (payload: object, variables: Variables, context: Context) => {
    const within = { ...context, limits: { ...context.limits, response: new ResponseBudget() } };
    const { storeId } = context.identity;
    const run = async () => {
      await yieldInOrder(); // so that the values of many subscriptions do not keep others waiting
      return operation.run(variables, within, payload);
    };
    return valueOf(() => executions.run(storeId, run), context);
  };
  return {
    names,
    async start(variables, context) {
      if (names !== undefined) context.observation.begins(names, operation.execution);
      if ((context.sent.bodyLength ?? 0) > plainBodyBytesMax)
        return { errors: presented([plainBodyTooLarge()], context) };
      const own = declaredOnly(definition, variables);
      const values = { variableValues: own, contextValue: context };
      const source = await createSourceEventStream({ schema, document, operationName, ...values });
      if (!isAsyncIterable(source)) return { errors: presented(source.errors ?? [], context) };
      // The scopes are part of the key, because tokens that allow less get errors instead of data.
      const key = `subscription ${id} ${[...context.identity.scopes].join()} ${digestOf(own)}`;
      // Clients of the same show get the same payload.
      const valueFor = (payload: object) => cachedWith(payload, key, () => execute(payload, own, context));
      return liveValues(source as AsyncIterable<object>, valueFor, context);
    },
  };
}

function declaredOnly(definition: Operation["definition"], variables: Variables): Variables {
  const declared = definition?.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [];
  return Object.fromEntries(
    declared.flatMap((name) => (Object.hasOwn(variables, name) ? [[name, variables[name]]] : [])),
  );
}

function presented(errors: readonly unknown[], context: Context) {
  const shown = errors.map((error) => presentError(error, context));
  context.observation.refused(codeOf(shown));
  return shown;
}

/** Executes one payload. Reports unexpected errors for the request that started it. */
async function valueOf(run: () => Promise<ExecutionResult> | ExecutionResult, context: Context): Promise<LiveValue> {
  try {
    const result = await run();
    if (result.errors === undefined) return asValue(result);
    const { data } = result;
    const errors = result.errors.map((error) => presentError(error, context));
    return asValue({ errors, ...(data !== undefined && { data }) });
  } catch (error) {
    return asValue({ errors: [presentError(error, context)] });
  }
}

function asValue(result: ExecutionResult, isLast = false): LiveValue {
  const code = result.errors === undefined ? undefined : codeOf(result.errors);
  const frames = new Map<StreamFormat, Buffer>();
  return {
    code,
    isLast,
    framed(format) {
      const frame = frames.get(format) ?? format.frame(JSON.stringify(result));
      frames.set(format, frame);
      return frame;
    },
  };
}

/** The values for one client. Of payloads that arrive while a value is made, only the latest counts. */
function liveValues(
  source: AsyncIterable<object>,
  valueFor: (payload: object) => Promise<LiveValue>,
  context: Context,
): LiveValues {
  const payloads = source[Symbol.asyncIterator]();
  return {
    async next() {
      try {
        const payload = await payloads.next();
        if (payload.done === true) return { done: true, value: undefined };
        const value = await valueFor(payload.value);
        if (value.code !== undefined) context.observation.refused(value.code);
        return { done: false, value };
      } catch (error) {
        return { done: false, value: asValue({ errors: presented([error], context) }, true) };
      }
    },
    async return() {
      await payloads.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function digestOf(variables: Variables): string {
  return createHash("sha256").update(JSON.stringify(variables)).digest("base64");
}

/** Clients of the same subscription share its values. */
export interface KnownSubscriptions {
  /** Undefined if the text is not a valid subscription. */
  find(text: string, operationName: string | undefined): Subscription | undefined;
}

/** A store executes at most this many subscriptions at a time, so that most of its connections stay free. */
const executionsOfStoreMax = 2;

/**
 * @param known keeps the documents
 * @param waitMs how long a value may wait for others of its store before it is UNAVAILABLE; 4.5 seconds by default
 */
export function createKnownSubscriptions(
  schema: GraphQLSchema,
  known: KnownOperations,
  waitMs?: number,
): KnownSubscriptions {
  const executions = new FairShare({
    places: Number.MAX_SAFE_INTEGER, // unlimited, because forStore shares connections among stores
    ofStoreMax: executionsOfStoreMax,
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many different subscriptions of this store wait for their values.",
  });
  /** By document and operation name. Forgotten together with the document. */
  const prepared = new WeakMap<DocumentNode, Map<string | undefined, Subscription>>();
  return {
    find(text, operationName) {
      if (!text.includes("subscription")) return undefined;
      const document = readValid(text, known);
      if (document === undefined) return undefined;
      const ofDocument = prepared.get(document) ?? new Map<string | undefined, Subscription>();
      const before = ofDocument.get(operationName);
      if (before !== undefined) return before;
      const subscription = prepareSubscription(schema, document, operationName, executions);
      if (subscription.names?.kind !== OperationTypeNode.SUBSCRIPTION) return undefined;
      prepared.set(document, ofDocument.set(operationName, subscription));
      return subscription;
    },
  };
}

function readValid(text: string, known: KnownOperations): DocumentNode | undefined {
  try {
    const document = known.parse(text);
    return known.validate(document).length === 0 ? document : undefined;
  } catch {
    return undefined;
  }
}
