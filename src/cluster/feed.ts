import type { FeedRelay } from "../analytics/feed/feed.relay.js";
import type { Channel } from "./channel.js";

const topic = "live-stream-changed";

/** In the primary: forwards a worker's changes to all others. */
export function relayForWorker(channel: Channel, others: () => Iterable<Channel>): void {
  channel.on(topic, (storeId: string, lsId: string) => {
    for (const other of others()) if (other !== channel) other.send(topic, storeId, lsId);
  });
}

/** In a worker. Nothing is lost, since workers end with their primary. */
export function createPrimaryRelay(channel: Channel): FeedRelay {
  return {
    send: (storeId, lsId) => channel.send(topic, storeId, lsId),
    subscribe: (onChange) => channel.on(topic, onChange),
    close: async () => undefined,
  };
}
