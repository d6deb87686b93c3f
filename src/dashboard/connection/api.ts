import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { TypedDocumentString, StoreQuery } from "../../generated/dashboard/graphql.js";
import { Failure, failureIn, failureOf, type GraphQLErrors } from "./failure.js";
import { storeQuery } from "../queries/show.js";
import { setTimeZone } from "../timeZone.js";

export interface Caller {
  readonly token: string;
  readonly signal?: AbortSignal;
}

type Answer<Result> = GraphQLErrors & { readonly data?: Result };

/** Nothing arrived from a stream for 30 seconds. */
export class StreamTimeoutError extends Error {
  override readonly name = "StreamTimeoutError";
}

/** The server sends a heartbeat at least every 12 seconds. */
const silenceMs = 30_000;
const answerMs = 30_000;

/** Runs a query. @throws {Failure} for errors in the response; a TypeError or AbortError if there is no response */
export async function query<Result, Variables>(
  operation: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { token, signal }: Caller,
): Promise<Result> {
  const caller = { token, signal: anyOf(signal, AbortSignal.timeout(answerMs)) };
  const response = await send(operation, variables, "application/json", caller);
  return resultOf((await response.json()) as Answer<Result>);
}

/**
 * The values of a subscription over server-sent events (graphql-sse protocol, distinct connections mode). Uses fetch,
 * because EventSource cannot send the token's header.
 *
 * @param onData called for everything that arrives, including heartbeats
 * @throws {Failure} as `query`; {StreamTimeoutError}
 */
export async function* subscribe<Result, Variables>(
  operation: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { token, signal }: Caller,
  onData: () => void = () => {},
): AsyncGenerator<Result, void> {
  const silence = new AbortController();
  const abort = () => silence.abort(new StreamTimeoutError("The stream was aborted: nothing arrived for 30 seconds."));
  let timer = setTimeout(abort, silenceMs);
  try {
    const caller = { token, signal: anyOf(signal, silence.signal) };
    const response = await send(operation, variables, "text/event-stream", caller);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const arrived: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => arrived.push(event) });
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      onData();
      clearTimeout(timer);
      timer = setTimeout(abort, silenceMs);
      parser.feed(part.value);
      for (const { event, data } of arrived.splice(0)) {
        if (event === "complete") return;
        if (event === "next") yield resultOf(JSON.parse(data) as Answer<Result>);
      }
    }
  } finally {
    clearTimeout(timer);
    silence.abort(); // ends the request, even if the caller returns early
  }
}

/** A signal that aborts as soon as one of these does. */
export function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

async function send(operation: unknown, variables: unknown, accept: string, { token, signal }: Required<Caller>) {
  const response = await fetch("graphql", {
    method: "POST",
    signal,
    cache: "no-store",
    credentials: "omit",
    headers: { "X-Service-Access-Token": token, "Content-Type": "application/json", Accept: accept },
    body: JSON.stringify({ query: operation, variables }),
  });
  // The answer to a refused subscription is also a stream, with one event.
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (!response.ok && !isStream) throw await failureOf(response);
  return response;
}

function resultOf<Result>(answer: Answer<Result>): Result {
  const failure = failureIn(answer);
  if (failure !== undefined) throw failure;
  if (answer.data === undefined) throw new Failure("refused", "The server's answer has no data.");
  return answer.data;
}

let known: { readonly token: string; readonly store: StoreQuery["store"] } | undefined;

/** Queries the store of a token once, before anything is shown, because it has the time zone of all times. */
export async function readStore(caller: Caller): Promise<StoreQuery["store"]> {
  if (known?.token === caller.token) return known.store;
  const { store } = await query(storeQuery, {}, caller);
  known = { token: caller.token, store };
  setTimeZone(store.timeZone);
  return store;
}
