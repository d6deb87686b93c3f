import { randomUUID } from "node:crypto";

/** The origin of pages that may use the public key. */
export const origin = "https://shop.example";

export const shows = ["spring", "summer", "autumn", "winter"] as const;

const viewersOfShow = 5_000;
const viewers = shows.map(() => Array.from({ length: viewersOfShow }, () => randomUUID()));

const userAgents = [
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
  "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
];

/** What one viewer's page reports of its show: a heartbeat, and sometimes a product put into the cart. */
export interface PageReport {
  readonly show: string;
  readonly events: readonly object[];
}

export function makeReport(index: number): PageReport {
  const show = index % shows.length;
  const common = { channel: index % 5 === 0 ? "REPLAY" : "LIVE", viewerId: pick(viewers[show] ?? []) };
  const events = Array.from({ length: (index % 3) + 1 }, (_, at) => {
    const isCart = at > 0 && index % 7 === 1;
    const own = isCart ? { type: "ADD_TO_CART", productId: `p${index % 50}` } : { type: "VIEW", seconds: 10 };
    return { id: randomUUID(), ...common, ...own };
  });
  return { show: shows[show] ?? "", events };
}

/** As `sendBeacon` sends text. */
export function pageHeaders(index: number): Record<string, string> {
  return {
    "content-type": "text/plain;charset=UTF-8",
    origin,
    referer: `${origin}/`,
    "user-agent": userAgents[index % userAgents.length] ?? "",
    accept: "*/*",
    "accept-language": "en-GB,en;q=0.9",
    "accept-encoding": "gzip, deflate, br, zstd",
  };
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
