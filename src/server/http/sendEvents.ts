import type { ServerResponse } from "node:http";
import type { EventStream } from "../../api/graphql/eventStream.js";

/** Proxies and clients give up silent streams. Yoga has the same interval. */
const pingMs = 12_000;

/**
 * Writes events until the stream ends or the client leaves. While earlier bytes wait to be sent, nothing is written, so that a slow
 * client only gets the latest value. An error completes the stream. If the server stops, the stream is cut, so that clients reconnect.
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
  let isComplete = false;
  try {
    for await (const value of events) {
      isComplete = value.isLast;
      const event = value.framed(format);
      await nextTurn(event.byteLength);
      if (disconnect.aborted) return;
      pinging.refresh();
      if (!response.write(event)) await drained(response, disconnect);
    }
  } finally {
    clearInterval(pinging); // a write after the end would be an unhandled error
  }
  if (isComplete) response.end(format.closing);
  else response.destroy();
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

/** In one turn of the event loop, we write to 50 streams, about 20 µs each, or this many bytes. */
const perTurn = 50;
const bytesPerTurn = 512 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly resume: () => void;
}

let waiting: Waiting[] = [];

/** Waits for a later turn of the event loop, so that sending a value to thousands of streams does not block requests. */
function nextTurn(bytes: number): Promise<void> {
  return new Promise((resume) => {
    waiting.push({ bytes, resume });
    if (waiting.length === 1) setImmediate(resumeSome);
  });
}

function resumeSome(): void {
  let bytes = 0;
  const beyond = waiting.findIndex((stream, index) => {
    bytes += stream.bytes;
    return index >= perTurn || (index > 0 && bytes > bytesPerTurn);
  });
  const now = waiting;
  waiting = beyond === -1 ? [] : now.splice(beyond);
  for (const { resume } of now) resume();
  if (waiting.length > 0) setImmediate(resumeSome);
}
