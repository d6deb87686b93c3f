import type { ServerResponse } from "node:http";
import type { EventStream } from "../graphql/eventStream.js";
import { nextTurn } from "./server/pacing.js";

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
