import type { RootDatabase } from "../../database/client.js";
import { endOf } from "../../shows/liveStream.js";
import type { ShopperEvent, ShopperEventInput } from "../events.input.js";

/** Players show a show with a delay. */
const playersLagMs = 30_000;
/**
 * Events of the channel AUTO as LIVE where they began before the show's end, or not much later, and as REPLAY otherwise. A VIEW began
 * as many seconds before it occurred as it has.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND
 */
export async function withChannels(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  events: readonly ShopperEventInput[],
): Promise<readonly ShopperEvent[]> {
  if (!events.some(({ channel }) => channel === "AUTO")) return events as readonly ShopperEvent[];
  const { endedAt } = await endOf(db, storeId, lsId);
  const now = new Date();
  return events.map((event) => {
    const { channel, occurredAt, seconds } = event;
    if (channel !== "AUTO") return { ...event, channel };
    const beganAt = (occurredAt ?? now).getTime() - (seconds ?? 0) * 1_000;
    const isLive = endedAt === null || beganAt < endedAt.getTime() + playersLagMs;
    return { ...event, channel: isLive ? "LIVE" : "REPLAY" };
  });
}
