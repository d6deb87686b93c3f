import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { closeLater } from "../resources.js";
import { nextMessage } from "./messages.js";

/** It waits for last answers before. */
const reportMs = 60_000;

export interface NeighbourTask {
  readonly url: string;
  readonly token: string;
  readonly products: readonly string[];
  readonly show: string;
}

export type NeighbourMessage =
  | { readonly kind: "begin" }
  | { readonly kind: "end" }
  | { readonly kind: "pause"; readonly isPaused: boolean }
  | { readonly kind: "server"; readonly url: string };

/** What was seen of the requests that were due in a window. */
export interface Endpoint {
  readonly requests: number;
  /** Any status but 200, an answer that tells of errors, a failed connection, no answer. */
  readonly errors: number;
  readonly longestMs: number;
  readonly p99Ms: number;
  readonly firstError?: string | undefined;
}

export interface Seen {
  readonly rest: Endpoint;
  readonly graphql: Endpoint;
  readonly analytics: Endpoint;
  /** The three above together. */
  readonly all: Endpoint;
  readonly readyz: Endpoint;
  /** By how much the client itself was late at most, which is part of the waits. */
  readonly clientLateMs: number;
}

/** A client of a store that only reads, and what it sees. */
export interface Neighbour {
  /** Counts what is due while the work is under way. What the work throws is thrown after the window has been closed. */
  during<Result>(work: () => Promise<Result>): Promise<{ readonly seen: Seen; readonly result: Result }>;
  /** Sends nothing for a while, or goes on. */
  pause(isPaused: boolean): void;
  /** Names the server that took the place of the one before. */
  moveTo(url: string): void;
  stop(): Promise<void>;
}

export function startNeighbour(task: NeighbourTask): Neighbour {
  const path = fileURLToPath(new URL("client.ts", import.meta.url));
  const client = fork(path, [JSON.stringify(task)], { execArgv: ["--import", "tsx"], detached: true });
  const tell = (message: NeighbourMessage) => void client.send(message);
  const stop = closeLater(async () => {
    const ended = client.exitCode === null && client.signalCode === null ? once(client, "exit") : undefined;
    client.kill();
    await ended;
  });
  const end = async (): Promise<Seen> => {
    tell({ kind: "end" });
    const seen = await nextMessage(client, reportMs);
    if (seen === undefined) throw new Error("The neighbour ended.");
    return seen as Seen; // it sends nothing else
  };
  return {
    async during(work) {
      tell({ kind: "begin" });
      const [outcome] = await Promise.allSettled([work()]);
      const seen = await end();
      if (outcome.status === "rejected") throw outcome.reason;
      return { seen, result: outcome.value };
    },
    pause: (isPaused) => tell({ kind: "pause", isPaused }),
    moveTo: (url) => tell({ kind: "server", url }),
    stop,
  };
}
