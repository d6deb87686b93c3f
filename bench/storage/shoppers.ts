import { randomBytes, randomUUID } from "node:crypto";

/** The size of a batch, as players that collect the events of many viewers send them. */
export const batchEvents = 1_000;
/** A little less than a minute: now and then a second heartbeat falls into the same one. */
const heartbeatSeconds = 55;
/** How long shows take. */
const showHeartbeats = 65;

export interface Audience {
  readonly viewers: number;
  /** How many heartbeats each viewer sends, who comes at any time that leaves room for them. */
  readonly heartbeats: number;
  /** Ids of events and viewers: random (4, the default), or such that begin with the time, as the tracker makes them (7). */
  readonly uuidVersion?: 4 | 7;
}

/** When the shows begin: at twenty past an hour, so that they reach into the next one wherever a run takes place. */
export function showStart(): Date {
  return new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 2 * 3_600_000 + 20 * 60_000);
}

/** The VIEW events of an audience in the order of their time, in batches. All ids are UUIDs. */
export function* heartbeats(audience: Audience, start: Date): Generator<object[]> {
  const { viewers, heartbeats: stay, uuidVersion = 4 } = audience;
  const newId = (at: Date) => (uuidVersion === 7 ? timedUuid(at) : randomUUID());
  const arrivals = showHeartbeats - stay + 1;
  const present: string[][] = [];
  let batch: object[] = [];
  for (let beat = 0; beat < showHeartbeats; beat += 1) {
    const beatAt = (share: number) => new Date(start.getTime() + (beat + share) * heartbeatSeconds * 1_000);
    if (beat < arrivals) present.push(newViewers(viewers, arrivals, beat, (share) => newId(beatAt(share))));
    if (beat >= stay) present.shift();
    const count = present.reduce((sum, { length }) => sum + length, 0);
    let seen = 0;
    for (const viewerId of present.flat()) {
      const occurredAt = beatAt(seen / count);
      batch.push(view(newId(occurredAt), viewerId, occurredAt));
      seen += 1;
      if (batch.length < batchEvents) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Those who arrive at one of so many times. */
function newViewers(viewers: number, arrivals: number, arrival: number, newId: (share: number) => string): string[] {
  const length = Math.floor((viewers * (arrival + 1)) / arrivals) - Math.floor((viewers * arrival) / arrivals);
  return Array.from({ length }, (_, index) => newId(index / length));
}

function timedUuid(at: Date): string {
  const random = randomBytes(10).toString("hex");
  const hex = at.getTime().toString(16).padStart(12, "0") + random;
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/u, "$1-$2-7$3-8$4-$5");
}

function view(id: string, viewerId: string, occurredAt: Date): object {
  const device = viewerId.slice(-1) < "a" ? "mobile" : "desktop";
  const common = { id, type: "VIEW", channel: "LIVE", occurredAt: occurredAt.toISOString() };
  return { ...common, viewerId, device, seconds: heartbeatSeconds };
}

/** Views, carts and orders of a crowd, as they come during a show. */
export function mixedBatch(viewers: readonly string[]): object[] {
  return Array.from({ length: batchEvents }, (_, index) => {
    const viewerId = viewers[Math.floor(Math.random() * viewers.length)];
    const common = { id: randomUUID(), channel: index % 5 === 0 ? "REPLAY" : "LIVE", viewerId };
    if (index % 10 === 3) return { ...common, type: "ADD_TO_CART", productId: `p${index % 50}` };
    if (index % 20 === 7) return { ...common, type: "ORDER", amount: (index % 300) + 0.99 };
    return { ...common, type: "VIEW", seconds: index % 120, device: index % 3 === 0 ? "desktop" : "mobile" };
  });
}

export function crowd(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
