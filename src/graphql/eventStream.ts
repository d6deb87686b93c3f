import type { ExecutionResult } from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import type { Context } from "../schema/context.js";
import type { Call } from "./fastPath.js";
import { refusedResponse } from "./httpStatus.js";
import { type LiveValues, nextEvent } from "./subscription.js";
import type { KnownSubscriptions } from "./subscriptions.js";

/** A stream of server-sent events to be written, in the distinct connections mode of the graphql-sse protocol. */
export interface EventStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The one event of a subscription that cannot begin, or its values. */
  readonly events: Buffer | LiveValues;
}

/** The stream that answers a call; undefined for a call that Yoga must answer. Nothing has been done then. */
export type OpenEventStream = (
  call: Call | undefined,
  accept: string | undefined,
  context: Context,
) => Promise<EventStream> | undefined;

/** As Yoga has them. */
const streamHeaders = {
  "content-type": "text/event-stream",
  connection: "keep-alive",
  "cache-control": "no-cache",
  "content-encoding": "none",
};

/**
 * The way past Yoga for subscriptions wanted as server-sent events and nothing else. They take the same pipeline and get the
 * bytes that Yoga would write; but a value that many watch is written down once for all of them.
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

/** Where other types are taken too, Yoga chooses among them. */
function wantsEventsOnly(accept = ""): boolean {
  const ranges = accept.toLowerCase().split(",");
  return ranges.every((range) => /^\s*text\/event-stream\s*(?:;\s*(?:q=[\d.]+|charset=utf-8)\s*)*$/u.test(range));
}
