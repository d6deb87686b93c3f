import type { SentEvent } from "../oracle.js";

/** What scripts/releasedRows.ts stores in a database of the last release, for test/database/upgrade.test.ts. */
export const releasedStore = "acme";

export const releasedStart = new Date("2026-05-04T18:30:00Z");

/** The last two have lost events after these were counted. */
export const releasedShows = ["summer sale", "uuids", "pruned", "half pruned"] as const;

/** Events of every kind: viewers who come back within other hours, orders without a viewer, and ids that look like UUIDs. */
export function releasedEvents(lsId: (typeof releasedShows)[number]): SentEvent[] {
  const id = (name: string, n: number) =>
    lsId === "uuids" ? `${name}0000000-0000-4000-8000-${String(n).padStart(12, "0")}` : `${name} ${n}`;
  return Array.from({ length: 60 }, (_, n): SentEvent => {
    const type = (["VIEW", "VIEW", "ADD_TO_CART", "ORDER", "REFUND"] as const)[n % 5] ?? "VIEW";
    const productId = `p${n % 4}`;
    const common = { id: id("e", n), type, occurredAt: new Date(releasedStart.getTime() + n * 120_000).toISOString() };
    if (type === "ORDER" || type === "REFUND") {
      const lines = n % 2 === 0 ? [{ productId, quantity: 2, amount: n / 4 }] : null;
      const channel = (["LIVE", "REPLAY", "REFERRAL"] as const)[n % 3] ?? "LIVE";
      return {
        ...common,
        channel,
        amount: n / 2,
        orderId: `order ${n}`,
        ...(lines === null ? { productId } : { lines }),
      };
    }
    const channel = n % 2 === 0 ? "LIVE" : "REPLAY";
    const device = n % 3 === 0 ? "mobile" : "desktop";
    return {
      ...common,
      channel,
      viewerId: id("a", n % 17),
      device,
      productId,
      seconds: type === "VIEW" ? n / 10 : null,
    };
  });
}
