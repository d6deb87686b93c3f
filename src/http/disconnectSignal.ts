import type { IncomingMessage, ServerResponse } from "node:http";

/** Aborted once the client has left, or has its whole answer. */
export function disconnectSignal({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const disconnect = new AbortController();
  const leave = () => {
    disconnect.abort();
    socket.off("close", leave);
  };
  if (socket.destroyed || response.closed) leave();
  response.once("close", leave);
  socket.once("close", leave); // of an answer that waits for earlier ones, nothing else tells
  return disconnect.signal;
}
