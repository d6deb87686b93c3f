import type { FeedRelay } from "../analytics/feed/feed.relay.js";
import type { Channel } from "./channel.js";

const topic = "live-stream-changed";

/** In the primary: forwards a worker's changes to the others. */
export function relayForWorker(channel: Channel, others: () => Iterable<Channel>): void {
  channel.on(topic, (storeId: string, lsId: string) => {
    for (const other of others()) if (other !== channel) other.send(topic, storeId, lsId);
  });
}

/** In a worker: the relay through the primary. It loses nothing, since a worker without its primary ends. */
export function createPrimaryRelay(channel: Channel): FeedRelay {
  return {
    send: (storeId, lsId) => channel.send(topic, storeId, lsId),
    onChange: (noticed) => channel.on(topic, noticed),
    close: async () => undefined, // whoever opened the channel closes it
  };
}
