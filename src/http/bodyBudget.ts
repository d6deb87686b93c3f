import type { ServerResponse } from "node:http";
import { AppError } from "../errors.js";

/** Smaller bodies are not counted, so that they always find room. */
const countedFromBytes = 65_536;

/** What one body takes of the budget. */
export interface BodyShare {
  /** @param bytes of the body so far. @throws {AppError} UNAVAILABLE where that is more than there is room for */
  grow(bytes: number): void;
  /** Gives it all back. */
  release(): void;
}

/** Bounds what the bodies of all requests together take in memory. */
export interface BodyBudget {
  /** For the body of the request that is answered by this; it ends with the answer. */
  shareFor(response: ServerResponse): BodyShare;
}

/** A budget of this many bytes, taken as they arrive. */
export function createBodyBudget(bytesMax: number): BodyBudget {
  let bytesTaken = 0;
  return {
    shareFor(response) {
      let counted = 0;
      const resize = (bytes: number) => {
        bytesTaken += bytes - counted;
        counted = bytes;
      };
      const release = () => resize(0);
      response.once("close", release);
      return {
        release,
        grow(bytes) {
          if (bytes < countedFromBytes || response.closed) return;
          if (bytesTaken - counted + bytes > bytesMax)
            throw new AppError("UNAVAILABLE", tooMany, { retryAfterSeconds: 1 });
          resize(bytes);
        },
      };
    },
  };
}

const tooMany = "Too many large bodies arrive at the same time. Nothing was changed.";
