import type { ShopperEventInput } from "../events.input.js";
import type { EventReceipt } from "../record/events.record.js";

export interface PartitionOptions {
  readonly partitions: number;
  readonly batchEvents: number;
}

interface Partition {
  waiting: ShopperEventInput[];
  sending: Promise<void>;
}

/**
 * Sends events in batches, one at a time for each partition. A viewer's events are in one partition, so their order
 * stays. Reads ahead until a partition has a full batch.
 *
 * @returns when all batches are sent. After a failure no further ones are sent; those under way are awaited
 */
export async function sendPartitioned(
  source: AsyncIterable<readonly ShopperEventInput[]>,
  send: (events: readonly ShopperEventInput[]) => Promise<EventReceipt>,
  { partitions: partitionCount, batchEvents }: PartitionOptions,
): Promise<EventReceipt> {
  const sum = { accepted: 0, duplicates: 0 };
  const partitions = Array.from({ length: partitionCount }, (): Partition => ({
    waiting: [],
    sending: Promise.resolve(),
  }));

  async function sendBatch(batch: readonly ShopperEventInput[]): Promise<void> {
    const { accepted, duplicates } = await send(batch);
    sum.accepted += accepted;
    sum.duplicates += duplicates;
  }

  async function dispatch(partition: Partition): Promise<void> {
    await partition.sending;
    partition.sending = sendBatch(partition.waiting);
    partition.sending.catch(() => undefined); // reported where it is awaited
    partition.waiting = [];
  }

  try {
    for await (const events of source) {
      for (const event of events) {
        const partition = partitions[partitionOf(event, partitionCount)];
        if (partition === undefined) continue; // never: there is one for each number
        partition.waiting.push(event);
        if (partition.waiting.length >= batchEvents) await dispatch(partition);
      }
    }
    for (const partition of partitions) if (partition.waiting.length > 0) await dispatch(partition);
    await Promise.all(partitions.map(({ sending }) => sending));
    return sum;
  } finally {
    await Promise.allSettled(partitions.map(({ sending }) => sending));
  }
}

function partitionOf({ id, viewerId }: ShopperEventInput, partitions: number): number {
  const key = viewerId ?? id;
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0;
  return hash % partitions;
}
