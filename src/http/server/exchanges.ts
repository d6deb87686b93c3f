import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The latest request of each connection. Answers are sent in the order of requests. */
export class Exchanges {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  begin(socket: Duplex, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  isRunning(socket: Duplex): boolean {
    return this.#latest.get(socket)?.writableFinished === false;
  }

  /** Whether the client would take an answer that is written now for that to what it is sending. */
  isNextToAnswer(socket: Duplex): boolean {
    const response = this.#latest.get(socket);
    if (response === undefined) return true;
    if (response.writableFinished) return response.shouldKeepAlive; // otherwise it was the last answer
    return response.socket !== null && !response.headersSent && !response.req.complete;
  }
}
