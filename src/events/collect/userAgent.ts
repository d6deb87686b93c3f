import Bowser from "bowser";
import { isbot } from "isbot";
import { LRUCache } from "lru-cache";

type Device = "mobile" | "tablet" | "desktop" | "tv" | "other";

interface Client {
  readonly device: Device;
  readonly isBot: boolean;
}

/** Televisions and what is connected to them, by names that Bowser does not know: it takes most of them for tablets. */
const television =
  /\b(?:AFT[A-Z\d]{1,8}|(?:Android|Apple|Google) ?TV|BRAVIA|Chromecast|CrKey|MIBOX\w{0,8}|MiTV\w{0,8}|PlayStation|SHIELD|TV|Xbox)\b/u;
const chromeOs = /\bCrOS\b/u;
/** Facebook's app, whose agent may be what is in these brackets alone, which looks like a bot's, or name a carrier's television. */
const facebookApp = /\bFB(?:AN|_IAB)\//u;
const facebookTablet = /\biPad|\bFBID\/tablet/u;

const devices: ReadonlySet<string> = new Set(["mobile", "tablet", "desktop", "tv"]);
/** Longer ones are no browsers', and take longer to read. */
const charactersMax = 512;
const known = new LRUCache<string, Client>({ max: 2_000, memoMethod: readClient });

export function clientOf(userAgent = ""): Client {
  return userAgent.length > charactersMax ? { device: "other", isBot: isbot(userAgent) } : known.memo(userAgent);
}

function readClient(userAgent: string): Client {
  const device = deviceOf(userAgent);
  const isKnown = device === "tv" || facebookApp.test(userAgent); // some names of televisions look like a bot's, too
  return { device, isBot: !isKnown && isbot(userAgent) };
}

function deviceOf(userAgent: string): Device {
  if (userAgent.trim() === "") return "other";
  const isFacebook = facebookApp.test(userAgent);
  if (!isFacebook && television.test(userAgent)) return "tv";
  if (chromeOs.test(userAgent)) return "desktop";
  const type = Bowser.getParser(userAgent).getPlatformType();
  if (isFacebook) {
    const isTablet = type === "tablet" && userAgent.startsWith("Mozilla/"); // Android's own agent says nothing of the device
    return isTablet || facebookTablet.test(userAgent) ? "tablet" : "mobile";
  }
  return devices.has(type) ? (type as Device) : "other";
}
