import Bowser from "bowser";
import { isbot } from "isbot";
import { LRUCache } from "lru-cache";

type Device = "mobile" | "tablet" | "desktop" | "tv" | "other";

interface Client {
  readonly device: Device;
  readonly isBot: boolean;
}

const devices: ReadonlySet<string> = new Set(["mobile", "tablet", "desktop", "tv"]);
/** Longer ones are no browsers', and take longer to read. */
const charactersMax = 512;
const known = new LRUCache<string, Client>({ max: 2_000 });

export function clientOf(userAgent = ""): Client {
  if (userAgent.length > charactersMax) return { device: "other", isBot: isbot(userAgent) };
  const before = known.get(userAgent);
  if (before !== undefined) return before;
  const client = { device: deviceOf(userAgent), isBot: isbot(userAgent) };
  known.set(userAgent, client);
  return client;
}

function deviceOf(userAgent: string): Device {
  if (userAgent.trim() === "") return "other";
  const type = Bowser.getParser(userAgent).getPlatformType();
  return devices.has(type) ? (type as Device) : "other";
}
