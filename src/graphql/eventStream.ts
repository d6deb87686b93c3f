import type { ExecutionResult } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { Context } from "../schema/context.js";
import { yieldUntilNoNewConnections } from "../lib/streams/eventLoop.js";
import type { Call } from "./fastPath.js";
import { refusedResponse } from "./httpStatus.js";
import { type StreamFormat, streamFormatOf } from "./streamFormat.js";
import type { LiveValues, Subscription } from "./subscription.js";
import type { KnownSubscriptions } from "./subscriptions.js";

export interface EventStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly format: StreamFormat;
  /** The values, or the one that refuses the subscription. */
  readonly events: Buffer | LiveValues;
}

/** Returns undefined, without any effect, if Yoga must answer. */
export type OpenEventStream = (
  call: Call | undefined,
  accept: string | undefined,
  context: Context,
) => Promise<EventStream> | undefined;

/**
 * Answers subscriptions as server-sent events without Yoga, with the same bytes, and by the multipart protocol, which
 * Yoga does not speak. A value that many clients watch is serialized once.
 */
export function createEventStreams(known: KnownSubscriptions): OpenEventStream {
  return (call, accept, context) => {
    const format = call === undefined ? undefined : streamFormatOf(accept);
    if (call === undefined || format === undefined) return undefined;
    const subscription = known.find(call.query, call.operationName);
    return subscription && start(subscription, call, context, format);
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
  const { status = 200, headers } = refusedResponse(started) ?? {};
  const events = format.frame(JSON.stringify(started));
  return { status, headers: { ...format.headers, ...headers }, format, events };
}
