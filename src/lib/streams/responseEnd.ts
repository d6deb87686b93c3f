import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "../../errors.js";

/** Callbacks by connection with unfinished responses; one listener serves all of them. */
const unfinished = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls back once a response is complete or its client has left. It observes the connection too, because a pipelined response
 * that waits for its turn emits no `close`.
 */
export function onResponseEnd(response: ServerResponse, callback: () => void): void {
  if (hasEnded(response)) return callback();
  const callbacks = callbacksOf(response.req.socket);
  const end = (): void => {
    response.off("close", end);
    if (callbacks.delete(end)) callback();
  };
  callbacks.add(end);
  response.once("close", end);
}

const signals = new WeakMap<ServerResponse, AbortSignal>();

/** Aborted once the response is complete or its client has left, because nobody needs the request's work any longer. */
export function endSignal(response: ServerResponse): AbortSignal {
  const known = signals.get(response);
  if (known !== undefined) return known;
  const end = new AbortController();
  signals.set(response, end.signal);
  onResponseEnd(response, () => end.abort(clientLeft()));
  return end.signal;
}

export function clientLeft(): AppError {
  return new AppError("CLIENT_CLOSED_REQUEST", "The client closed the connection.");
}

export function hasEnded(response: ServerResponse): boolean {
  return response.closed || response.req.socket.destroyed;
}

function callbacksOf(socket: Socket): Set<() => void> {
  let callbacks = unfinished.get(socket);
  if (callbacks === undefined) {
    const added = new Set<() => void>();
    callbacks = added;
    unfinished.set(socket, callbacks);
    socket.once("close", () => added.forEach((end) => end()));
  }
  return callbacks;
}
