import type { ExecutionResult } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { Context } from "../../schema/context.js";
import { yieldUntilNoNewConnections } from "../../lib/streams/eventLoop.js";
import { type Accepted, notAcceptable, refusedResponse, unavailableResponse } from "./accepted.js";
import type { Call } from "./fastPath.js";
import type { StreamFormat } from "./streamFormat.js";
import type { KnownSubscriptions, LiveValues, Subscription } from "./subscription.js";

export interface EventStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: StreamFormat;
  /** The values, or the bytes of one that refuses the subscription. */
  readonly events: Buffer | LiveValues;
}

/**
 * Opens a valid subscription. Returns undefined for anything else, without any effect.
 *
 * @throws {AppError} NOT_ACCEPTABLE if Accept allows no stream
 */
export type OpenEventStream = (
  call: Call | undefined,
  accepted: Accepted,
  context: Context,
) => Promise<EventStream> | undefined;

/**
 * Answers subscriptions by the graphql-sse protocol or the multipart protocol, which Yoga does not support. Executes and serializes a
 * value once for all clients that watch it.
 */
export function createEventStreams(known: KnownSubscriptions): OpenEventStream {
  return (call, { stream: format }, context) => {
    const subscription = call && known.find(call.query, call.operationName);
    if (call === undefined || subscription === undefined) return undefined;
    if (format === undefined) throw notAcceptable();
    return start(subscription, call, context, format);
  };
}

async function start(
  subscription: Subscription,
  { variables }: Call,
  context: Context,
  format: StreamFormat,
): Promise<EventStream> {
  await yieldUntilNoNewConnections();
  return asStream(await subscription.start(variables, context), format);
}

function asStream(started: ExecutionResult | LiveValues, format: StreamFormat): EventStream {
  if (isAsyncIterable(started)) return { status: 200, headers: format.headers, format, events: started };
  const { status = 200, headers } = refusedResponse(started) ?? unavailableResponse(started) ?? {};
  const events = format.frame(JSON.stringify(started));
  return { status, headers: { ...format.headers, ...headers }, format, events };
}
