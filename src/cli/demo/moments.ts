import type { HostInput } from "../../shows/liveStream.input.js";
import type { MomentInput } from "../../shows/moments/moments.input.js";
import { demoProductIds } from "./products.js";

const minuteMs = 60_000;
/** A show pins another product every two minutes. */
const pinMinutes = 2;

/** The number, from 1, of the pin at a time. */
export function pinNumber(showStart: Date, at: Date): number {
  return Math.floor((at.getTime() - showStart.getTime()) / (pinMinutes * minuteMs)) + 1;
}

/** @param first the index of the product that the show pins first */
export function pinnedProduct(pin: number, first = 0): string {
  return demoProductIds[(first + pin - 1) % demoProductIds.length] ?? "";
}

/** A pin of a show. It lasts to the next one. */
export function pinOf(showStart: Date, pin: number, first = 0): MomentInput {
  const startedAt = new Date(showStart.getTime() + (pin - 1) * pinMinutes * minuteMs);
  return { id: `pin-${pin}`, kind: "PIN", startedAt, productId: pinnedProduct(pin, first) };
}

/** The moments of so many minutes of a show: its pins, and its hosts, each of whom presents as long as the others. */
export function momentsOf(
  showStart: Date,
  minutes: number,
  hosts: readonly HostInput[] = [],
  first = 0,
): MomentInput[] {
  const pins = Array.from({ length: Math.ceil(minutes / pinMinutes) }, (_, index) =>
    pinOf(showStart, index + 1, first),
  );
  const shifts = hosts.map((host, index): MomentInput => {
    const startedAt = new Date(showStart.getTime() + ((index * minutes) / hosts.length) * minuteMs);
    return { id: `host-${index + 1}`, kind: "HOST", startedAt, host };
  });
  return [...pins, ...shifts];
}
