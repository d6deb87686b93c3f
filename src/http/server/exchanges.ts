import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Requests by connection. Answers are sent in their order. */
export class Exchanges {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  begin(socket: Duplex, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  isRunning(socket: Duplex): boolean {
    return this.#latest.get(socket)?.writableFinished === false;
  }

  /** Otherwise the client would take an answer written now for that to another request. */
  isNextToAnswer(socket: Duplex): boolean {
    const response = this.#latest.get(socket);
    if (response === undefined) return true;
    if (response.writableFinished) return response.shouldKeepAlive; // otherwise it was the last answer
    return response.socket !== null && !response.headersSent && !response.req.complete;
  }
}
