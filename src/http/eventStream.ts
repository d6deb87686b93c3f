import type { ServerResponse } from "node:http";
import type { EventStream } from "../graphql/eventStream.js";

/** Yoga's interval: proxies and clients give up silent streams. */
const pingMs = 12_000;

/**
 * Writes events until the stream ends or its client leaves. A slow client gets the latest value only: nothing is
 * written while earlier bytes wait to be sent.
 *
 * @param disconnect aborted when the client leaves
 */
export async function sendEvents(
  response: ServerResponse,
  { status, headers, format, events }: EventStream,
  disconnect: AbortSignal,
): Promise<void> {
  if (disconnect.aborted) return endOf(events);
  response.writeHead(status, headers);
  response.write(format.opening);
  if (Buffer.isBuffer(events)) {
    response.write(events);
    return void response.end(format.closing);
  }
  const pinging = setInterval(() => {
    if (!response.writableNeedDrain) response.write(format.heartbeat);
  }, pingMs);
  disconnect.addEventListener("abort", () => void events.return?.());
  try {
    for await (const value of events) {
      await nextTurn();
      if (disconnect.aborted) return;
      pinging.refresh();
      if (!response.write(value.framed(format))) await drained(response, disconnect);
    }
  } finally {
    clearInterval(pinging); // writing after the end would be an unhandled error
  }
  response.end(format.closing);
}

async function endOf(events: EventStream["events"]): Promise<void> {
  if (!Buffer.isBuffer(events)) await events.return?.();
}

function drained(response: ServerResponse, disconnect: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (disconnect.aborted || !response.writableNeedDrain) return resolve();
    const settle = () => {
      response.off("drain", settle);
      disconnect.removeEventListener("abort", settle);
      resolve();
    };
    response.once("drain", settle);
    disconnect.addEventListener("abort", settle);
  });
}

/** In one turn of the event loop: each stream takes about 20 µs. */
const perTurn = 50;

let waiting: (() => void)[] = [];

/** Waits for a later turn of the event loop, so that a value for thousands of streams does not block other requests. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resume);
  });
}

function resume(): void {
  const now = waiting;
  waiting = now.splice(perTurn);
  for (const resolve of now) resolve();
  if (waiting.length > 0) setImmediate(resume);
}
