import Bowser from "bowser";
import { LRUCache } from "lru-cache";

/** What devices of pages are called. */
type Device = "mobile" | "tablet" | "desktop" | "tv" | "other";

const devices: ReadonlySet<string> = new Set(["mobile", "tablet", "desktop", "tv"]);
/** Longer ones are no browsers', and reading them takes longer. */
const charactersMax = 512;
const known = new LRUCache<string, Device>({ max: 2_000 });

/** The kind of device that a User-Agent tells. */
export function deviceOf(userAgent: string | undefined): Device {
  if (userAgent === undefined || userAgent.trim() === "" || userAgent.length > charactersMax) return "other";
  const before = known.get(userAgent);
  if (before !== undefined) return before;
  const type = Bowser.getParser(userAgent).getPlatformType();
  const device = devices.has(type) ? (type as Device) : "other";
  known.set(userAgent, device);
  return device;
}
