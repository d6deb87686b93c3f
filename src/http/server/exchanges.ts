import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** What goes on on connections: the last request that came on each. Answers go out in the order of requests. */
export class Exchanges {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  begin(socket: Duplex, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  /** Whether an answer is still to be given or sent. */
  isRunning(socket: Duplex): boolean {
    return this.#latest.get(socket)?.writableFinished === false;
  }

  /**
   * Whether an answer that is written now would be taken for the one to what the client sends now: all earlier requests
   * are answered, and if this one has begun to be, that was not seen yet.
   */
  isNextToAnswer(socket: Duplex): boolean {
    const response = this.#latest.get(socket);
    if (response === undefined) return true;
    if (response.writableFinished) return response.shouldKeepAlive; // else it was the last
    return response.socket !== null && !response.headersSent && !response.req.complete;
  }
}
