import type { ExecutionResult } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { Context } from "../schema/context.js";
import type { Call } from "./fastPath.js";
import { refusedResponse } from "./httpStatus.js";
import { type LiveValues, nextEvent } from "./subscription.js";
import type { KnownSubscriptions } from "./subscriptions.js";

/** Server-sent events in the distinct connections mode of the graphql-sse protocol. */
export interface EventStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly events: Buffer | LiveValues;
}

/** Returns undefined, without any effect, for a call that Yoga must answer. */
export type OpenEventStream = (
  call: Call | undefined,
  accept: string | undefined,
  context: Context,
) => Promise<EventStream> | undefined;

const streamHeaders = {
  "content-type": "text/event-stream",
  connection: "keep-alive",
  "cache-control": "no-cache",
  "content-encoding": "none",
};

/**
 * Answers subscriptions requested as server-sent events without Yoga, with the bytes that Yoga would write. A value that
 * many clients watch is serialized once.
 */
export function createEventStreams(known: KnownSubscriptions): OpenEventStream {
  return (call, accept, context) => {
    if (call === undefined || !wantsEventsOnly(accept)) return undefined;
    const subscription = known.find(call.query, call.operationName);
    return subscription?.start(call.variables, context).then(asStream);
  };
}

function asStream(started: ExecutionResult | LiveValues): EventStream {
  if (isAsyncIterable(started)) return { status: 200, headers: streamHeaders, events: started };
  const { status = 200, headers } = refusedResponse(started) ?? {};
  return { status, headers: { ...streamHeaders, ...headers }, events: nextEvent(started) };
}

function wantsEventsOnly(accept = ""): boolean {
  const ranges = accept.toLowerCase().split(",");
  return ranges.every((range) => /^\s*text\/event-stream\s*(?:;\s*(?:q=[\d.]+|charset=utf-8)\s*)*$/u.test(range));
}
