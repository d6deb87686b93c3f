import type { ServerResponse } from "node:http";
import { FairShare } from "../../lib/fairShare.js";
import { isOver, onceOver } from "../exchange.js";

/** Smaller bodies are not counted, so that they always find room. */
const countedFromBytes = 65_536;
/** A body of unknown length takes as much more each time. */
const stepBytes = 1024 * 1024;

/** What one body takes of the budget. */
export interface BodyShare {
  /**
   * Takes room for as many bytes in all, after waiting where there is none.
   *
   * @returns undefined where there is room at once
   * @throws {AppError} UNAVAILABLE after waiting in vain, as a rejection
   */
  grow(bytes: number): Promise<void> | undefined;
  /** Gives it all back. */
  release(): void;
}

/** Bounds what the bodies of all requests together take in memory. A store takes half of that at most. */
export interface BodyBudget {
  /** For the body of a store's request that is answered by this; it ends with the answer. */
  shareFor(response: ServerResponse, storeId: string): BodyShare;
}

/**
 * A budget for bodies, taken before they are read or as they arrive.
 *
 * @param bytesMax of all of them
 * @param waitMs how long a body waits for room before it is refused; 5 seconds unless given
 */
export function createBodyBudget(bytesMax: number, waitMs?: number): BodyBudget {
  const room = new FairShare({
    places: bytesMax,
    ofStoreMax: Math.ceil(bytesMax / 2),
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many large bodies arrive at the same time. Nothing was changed.",
  });
  return {
    shareFor(response, storeId) {
      let held = 0;
      let isReleased = false;
      let isRegistered = false;
      const release = (): void => {
        isReleased = true;
        if (held > 0) room.release(storeId, held);
        held = 0;
      };
      const take = async (amount: number): Promise<void> => {
        await room.take(storeId, { amount });
        if (isReleased) room.release(storeId, amount);
        else held += amount;
      };
      return {
        release,
        grow(bytes) {
          if (bytes < countedFromBytes || bytes <= held || isOver(response)) return undefined;
          const amount = Math.min(Math.max(bytes - held, stepBytes), Math.ceil(bytesMax / 2) - held);
          if (amount <= 0) return undefined;
          if (!isRegistered) onceOver(response, release);
          isRegistered = true;
          if (!room.tryTake(storeId, amount)) return take(amount);
          held += amount;
          return undefined;
        },
      };
    },
  };
}
