import type { ServerResponse } from "node:http";
import { FairShare } from "../../lib/fairShare.js";
import { endSignal, hasEnded, onResponseEnd } from "../../lib/streams/responseEnd.js";

const countedFromBytes = 65_536;
const stepBytes = 1024 * 1024;

export interface BodyShare {
  /**
   * Grows the share to this many bytes.
   *
   * @returns undefined if that is possible immediately
   * @throws {AppError} UNAVAILABLE after waiting in vain, as a rejection
   */
  grow(bytes: number): Promise<void> | undefined;
  /** Whether another body waits for what this one holds. */
  isWanted(): boolean;
  release(): void;
}

/** Bounds the memory of all request bodies together. A store gets at most half. */
export interface BodyBudget {
  /** Bytes of all bodies together. */
  readonly held: number;
  /** Released when the answer ends. */
  shareFor(response: ServerResponse, storeId: string): BodyShare;
}

/**
 * @param bytesMax of all bodies
 * @param waitMs how long a body waits for room before it is refused; 4.5 seconds by default
 */
export function createBodyBudget(bytesMax: number, waitMs?: number): BodyBudget {
  const room = new FairShare({
    places: bytesMax,
    ofStoreMax: Math.ceil(bytesMax / 2),
    ...(waitMs !== undefined && { waitMs }),
    message: "Too many large bodies arrive at the same time. Nothing was changed.",
  });
  return {
    get held() {
      return room.held;
    },
    shareFor: (response, storeId) => shareOf(room, response, storeId),
  };
}

function shareOf(room: FairShare, response: ServerResponse, storeId: string): BodyShare {
  let held = 0;
  let isReleased = false;
  let isRegistered = false;
  const release = (): void => {
    isReleased = true;
    if (held > 0) room.release(storeId, held);
    held = 0;
  };
  const take = async (amount: number): Promise<void> => {
    await room.take(storeId, { amount, signal: endSignal(response) });
    if (isReleased) room.release(storeId, amount);
    else held += amount;
  };
  return {
    release,
    isWanted: () => held > 0 && room.isWanted(storeId, held),
    grow(bytes) {
      if (bytes < countedFromBytes || bytes <= held || hasEnded(response)) return undefined;
      const amount = Math.min(Math.max(bytes - held, stepBytes), room.ofStoreMax - held);
      if (amount <= 0) return undefined;
      if (!isRegistered) onResponseEnd(response, release);
      isRegistered = true;
      if (!room.tryTake(storeId, amount)) return take(amount);
      held += amount;
      return undefined;
    },
  };
}
