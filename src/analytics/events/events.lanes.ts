import type { ShopperEventInput } from "./events.input.js";
import type { EventReceipt } from "./events.record.js";

export interface LaneOptions {
  /** Batches on their way at the same time, at most. */
  readonly lanes: number;
  /** Events of a batch. */
  readonly batchEvents: number;
}

interface Lane {
  waiting: ShopperEventInput[];
  sending: Promise<void>;
}

/**
 * Sends events in batches, a few at a time. Events of one viewer take the same lane, whose batches follow each other, so
 * that they are accepted in the order given, and lanes do not wait for each other's viewers.
 * Reading goes on while batches are on their way, until a lane has a full batch and its last one is not done.
 *
 * @returns when all are done. If one fails, no further ones are sent, and those on their way are waited for
 */
export async function sendInLanes(
  source: AsyncIterable<readonly ShopperEventInput[]>,
  send: (events: readonly ShopperEventInput[]) => Promise<EventReceipt>,
  { lanes: laneCount, batchEvents }: LaneOptions,
): Promise<EventReceipt> {
  const sum = { accepted: 0, duplicates: 0 };
  const lanes = Array.from({ length: laneCount }, (): Lane => ({ waiting: [], sending: Promise.resolve() }));

  async function sendBatch(batch: readonly ShopperEventInput[]): Promise<void> {
    const { accepted, duplicates } = await send(batch);
    sum.accepted += accepted;
    sum.duplicates += duplicates;
  }

  async function dispatch(lane: Lane): Promise<void> {
    await lane.sending;
    lane.sending = sendBatch(lane.waiting);
    lane.sending.catch(() => undefined); // thrown where it is awaited
    lane.waiting = [];
  }

  try {
    for await (const events of source) {
      for (const event of events) {
        const lane = lanes[laneNumber(event, laneCount)];
        if (lane === undefined) continue; // there is one for each number
        lane.waiting.push(event);
        if (lane.waiting.length >= batchEvents) await dispatch(lane);
      }
    }
    for (const lane of lanes) if (lane.waiting.length > 0) await dispatch(lane);
    await Promise.all(lanes.map(({ sending }) => sending));
    return sum;
  } finally {
    await Promise.allSettled(lanes.map(({ sending }) => sending));
  }
}

/** The same for each event of a viewer. */
function laneNumber({ id, viewerId }: ShopperEventInput, lanes: number): number {
  const key = viewerId ?? id;
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0;
  return hash % lanes;
}
