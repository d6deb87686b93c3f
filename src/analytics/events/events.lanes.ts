import type { ShopperEventInput } from "./events.input.js";
import type { EventReceipt } from "./events.record.js";

export interface LaneOptions {
  readonly lanes: number;
  readonly batchEvents: number;
}

interface Lane {
  waiting: ShopperEventInput[];
  sending: Promise<void>;
}

/**
 * Sends events in batches, one at a time for each partition. A viewer's events are in the same partition, so they are
 * accepted in order, and batches do not wait for each other's rows. Reads ahead until a partition has a full batch.
 *
 * @returns when all batches are sent. After a failure no further ones are sent; those under way are awaited
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
    lane.sending.catch(() => undefined); // reported where it is awaited
    lane.waiting = [];
  }

  try {
    for await (const events of source) {
      for (const event of events) {
        const lane = lanes[laneNumber(event, laneCount)];
        if (lane === undefined) continue; // never: there is one for each number
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

function laneNumber({ id, viewerId }: ShopperEventInput, lanes: number): number {
  const key = viewerId ?? id;
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0;
  return hash % lanes;
}
