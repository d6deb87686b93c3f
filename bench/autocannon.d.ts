/** What is used here of autocannon, which has no types of its own. */
declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  interface Request {
    method: "GET" | "POST";
    path: string;
    headers: Record<string, string>;
    body?: string;
  }

  interface Client {
    setRequests(requests: Request[]): void;
  }

  interface Options {
    url: string;
    connections: number;
    /** Requests in all. */
    amount: number;
    /** Seconds to wait for an answer. */
    timeout: number;
    /** Milliseconds between samples; it ends at the first after the last answer. */
    sampleInt: number;
    setupClient(client: Client): void;
  }

  interface Result {
    errors: number;
    non2xx: number;
  }

  /** Emits `response` with the client, the status, the size and the milliseconds that the answer took. */
  interface Run extends EventEmitter, PromiseLike<Result> {}

  export default function autocannon(options: Options): Run;
}
