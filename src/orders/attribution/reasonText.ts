import type { Part } from "./attribution.js";

const [minute, hour, day] = [60, 3_600, 86_400];

/** A sentence that says why a part of an order counts for its show, or for none. */
export function becauseOf(part: Part, placedAt: Date, windowHours: number, showName: string | null): string {
  const name = showName ?? "a show";
  const before = beforeOrder(placedAt.getTime() - part.at.getTime());
  switch (part.reason) {
    case "SENT":
      return `Sent for ${name} by the shop.`;
    case "NOT_SENT":
      return "The shop named no show.";
    case "WATCHED":
      return part.channel === 1
        ? `Watched ${name} live for ${duration(part.seconds)} until ${before}.`
        : `Watched the replay of ${name} for ${duration(part.seconds)} until ${before}.`;
    case "NOT_WATCHED":
      return `No show was watched within ${windowName(windowHours)} before it.`;
    case "CARTED":
      return `Put ${part.productId} into the cart in ${part.channel === 1 ? name : `the replay of ${name}`} ${before}.`;
    case "NOT_CARTED":
      return `None of these products was put into the cart in a show within ${windowName(windowHours)} before it.`;
    case "NO_VIEWER":
      return "Neither the shop nor a page said which viewer placed it.";
    case "SHOW_DELETED":
      return "The show for which it counted was deleted.";
    default:
      return "No product accounts for this part, such as shipping.";
  }
}

function beforeOrder(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds === 0 ? "the moment of the order" : `${duration(seconds)} before the order`;
}

/** Rounded to the largest unit: 45 s, 7 min, 3 hours, 2 days. */
function duration(seconds: number): string {
  if (seconds < minute) return `${Math.round(seconds)} s`;
  if (seconds < hour) return `${Math.round(seconds / minute)} min`;
  if (seconds < 2 * day) return counted(Math.round(seconds / hour), "hour");
  return counted(Math.round(seconds / day), "day");
}

export function windowName(hours: number): string {
  return hours % 24 === 0 ? counted(hours / 24, "day") : counted(hours, "hour");
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
