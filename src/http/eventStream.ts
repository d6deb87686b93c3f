import type { ServerResponse } from "node:http";
import type { EventStream } from "../graphql/eventStream.js";

/** So often something is said on a stream that has nothing to say, as by Yoga: proxies and clients give up silent ones. */
const pingMs = 12_000;

const ping = Buffer.from(":\n\n");
const complete = Buffer.from("event: complete\ndata:\n\n");

/**
 * Writes a stream of events until it ends or its client leaves. A client that does not read gets the latest value once it
 * does: nothing is written while something written before waits to be sent.
 */
export async function sendEvents(response: ServerResponse, { status, headers, events }: EventStream): Promise<void> {
  if (response.destroyed) return endOf(events);
  response.writeHead(status, headers);
  response.write(ping); // clients are told that it has begun
  if (Buffer.isBuffer(events)) {
    response.write(events);
    return void response.end(complete);
  }
  const pinging = setInterval(() => {
    if (!response.writableNeedDrain) response.write(ping);
  }, pingMs);
  response.once("close", () => {
    clearInterval(pinging);
    void events.return?.();
  });
  for await (const { event } of events) {
    await nextTurn();
    if (response.destroyed) return;
    pinging.refresh();
    if (!response.write(event)) await drained(response);
  }
  response.end(complete);
}

async function endOf(events: EventStream["events"]): Promise<void> {
  if (!Buffer.isBuffer(events)) await events.return?.();
}

/** Settles when the client has taken in what was written, or has gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed || !response.writableNeedDrain) return resolve();
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.once("drain", settle).once("close", settle);
  });
}

/** How many go on in one turn of the event loop: writing to each takes some 20 µs. */
const perTurn = 50;

let waiting: (() => void)[] = [];

/**
 * Settles in a turn of the event loop in which few others go on: a value for thousands is written to some of them, then the
 * loop looks after other requests, then come the next ones.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  const now = waiting;
  waiting = now.splice(perTurn);
  for (const resolve of now) resolve();
  if (waiting.length > 0) setImmediate(goOn);
}
