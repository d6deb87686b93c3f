import type { RootDatabase } from "../../database/client.js";
import { endOf } from "../../shows/liveStream.js";
import type { ShopperEvent, ShopperEventInput } from "../events.input.js";

/** How far players lag behind the show. */
const playersLagMs = 30_000;
/**
 * Turns the channel AUTO into LIVE if the event began before the show's end or shortly after it, else into REPLAY. A VIEW began its
 * seconds before it occurred.
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
