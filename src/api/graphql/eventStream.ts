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
  /** The values, or the one that refuses the subscription. */
  readonly events: Buffer | LiveValues;
}

/**
 * Returns undefined, without any effect, for anything but a valid subscription.
 *
 * @throws {AppError} NOT_ACCEPTABLE where Accept allows no stream
 */
export type OpenEventStream = (
  call: Call | undefined,
  accepted: Accepted,
  context: Context,
) => Promise<EventStream> | undefined;

/**
 * Answers subscriptions, by the graphql-sse protocol or the multipart protocol, which Yoga does not speak. A value that many
 * clients watch is executed and serialized once.
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
