import type { Line } from "../../lib/line.js";
import type { FeedRelay } from "./feed.relay.js";

const topic = "live-stream-changed";

/** In the primary: passes on what a worker tells to all the others. */
export function relayForWorker(line: Line, others: () => Iterable<Line>): void {
  line.onTold(topic, (storeId: string, lsId: string) => {
    for (const other of others()) if (other !== line) other.tell(topic, storeId, lsId);
  });
}

/** In a worker: the relay of the primary. It loses nothing, since a worker without its primary ends. */
export function createPrimaryRelay(line: Line): FeedRelay {
  return {
    send: (storeId, lsId) => line.tell(topic, storeId, lsId),
    onChange: (noticed) => line.onTold(topic, noticed),
    close: async () => undefined, // the line is not its own
  };
}
