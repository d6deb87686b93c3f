// The callers of bench/mixed.ts: each kind at a steady pace, so that all of them are served at one time.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeBatch, productReferences } from "./products.js";

export interface MixedTask {
  readonly urls: readonly string[];
  readonly token: string;
  readonly shows: readonly string[];
  readonly seconds: number;
  /** What is measured earlier does not count; errors and events do. */
  readonly warmUpSeconds: number;
}

export interface MixedReport {
  readonly errors: number;
  readonly firstError: string | undefined;
  /** Events that servers said they accepted, and the orders among them. */
  readonly accepted: number;
  readonly orders: number;
  readonly sales: number;
  /** The last total of orders that each subscriber was told, and of which show. */
  readonly lastSeen: readonly LastSeen[];
  /** Latencies in ms. */
  readonly kinds: readonly { readonly name: string; readonly latencies: number[] }[];
}

export interface LastSeen {
  readonly lsId: string;
  readonly orders: number | undefined;
}

/** One caller of this kind sends this often; as many callers as there are of a kind send beside each other. */
interface Kind {
  readonly name: string;
  readonly callers: number;
  readonly everyMs: number;
  /** @param other the server whose turn it is not */
  readonly call: (url: string, number: number, other: string) => Promise<void>;
}

const eventsPerBatch = 100;

process.once("message", (task: MixedTask) => {
  void run(task).then((report) => process.send?.(report, () => process.exit(0)));
});

async function run(task: MixedTask): Promise<MixedReport> {
  const { urls, token, shows } = task;
  const headers = { "x-service-access-token": token, "content-type": "application/json" };
  const counted = { accepted: 0, orders: 0, sales: 0 };
  const errors: string[] = [];
  const references = productReferences();
  const batches = [makeBatch(0), makeBatch(1)];

  const fetched = async (url: string, path: string, body?: object): Promise<any> => {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(url + path, { headers, ...options });
    const answer: any = await response.json();
    if (response.status !== 200 || answer.errors !== undefined)
      throw new Error(`${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  /** Servers take turns, and so does what they are asked for, at half the pace: each gets everything. */
  const crossed = <Item>(items: readonly Item[], number: number) => items[(number >> 1) % items.length];
  const record = async (url: string, number: number, other: string): Promise<void> => {
    const lsId = crossed(shows, number);
    const events = makeEvents();
    const operation =
      "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted duplicates } }";
    const send = (to: string) => fetched(to, "/graphql", { query: operation, variables: { lsId, events } });
    const { accepted } = (await send(url)).data.recordShopperEvents;
    counted.accepted += accepted;
    const amounts = events.flatMap((event) => ("amount" in event ? [event.amount] : []));
    counted.orders += amounts.length;
    counted.sales += amounts.reduce((sum, amount) => sum + amount, 0);
    if (number % 9 > 0) return; // odd, so that both servers are sent some again
    const again = await send(other); // as after a lost answer, by a balancer
    counted.accepted += again.data.recordShopperEvents.accepted;
  };

  const kinds: readonly Kind[] = [
    {
      name: "REST read of a product",
      callers: 8,
      everyMs: 20,
      call: (url, n) => fetched(url, `/external/product/v1/${references[n % references.length]}`),
    },
    {
      name: "GraphQL search",
      callers: 2,
      everyMs: 50,
      call: (url, n) =>
        fetched(url, "/graphql", {
          query: "query ($s: String!) { products(first: 20, search: $s) { nodes { id title price } } }",
          variables: { s: `shirt ${n % 500}` },
        }),
    },
    {
      name: "analytics read",
      callers: 2,
      everyMs: 50,
      call: (url, n) => fetched(url, `/external/analytics/v1/live-streams/${crossed(shows, n)}`),
    },
    {
      name: "import of 1,000 products",
      callers: 2,
      everyMs: 2_000,
      call: (url, n) => fetched(url, "/external/product/v1/bulk", { products: crossed(batches, n) }),
    },
    { name: `batch of ${eventsPerBatch} events`, callers: 4, everyMs: 100, call: record },
  ];

  const startedAt = performance.now();
  const endsAt = startedAt + task.seconds * 1_000;
  const countsFrom = startedAt + task.warmUpSeconds * 1_000;
  const failed = (error: unknown): undefined => void errors.push(String(error).slice(0, 300));

  const paced = async ({ call, everyMs }: Kind, caller: number, latencies: number[]): Promise<void> => {
    for (let number = caller; performance.now() < endsAt; number += 1) {
      const begin = performance.now();
      const [url = "", other = ""] = [urls[number % urls.length], urls[(number + 1) % urls.length]];
      await call(url, number, other).catch(failed);
      const end = performance.now();
      if (begin >= countsFrom) latencies.push(end - begin);
      await sleep(Math.max(0, everyMs - (end - begin)));
    }
  };

  const gaps: number[] = [];
  const subscribers = Array.from({ length: 20 }, async (_, index) => {
    const [url = "", lsId = ""] = [urls[index % urls.length], crossed(shows, index)];
    const seen: LastSeen = { lsId, orders: await watch({ url, headers, lsId, endsAt }, gaps).catch(failed) };
    return seen;
  });
  const measured = kinds.map((kind) => ({ name: kind.name, latencies: [] as number[] }));
  await Promise.all(
    kinds.flatMap((kind, index) =>
      Array.from({ length: kind.callers }, (_, caller) => paced(kind, caller, measured[index]?.latencies ?? [])),
    ),
  );
  const lastSeen = await Promise.all(subscribers);
  if (gaps.length < subscribers.length * task.seconds * 0.5) failed(`Only ${gaps.length} values came to subscribers.`);
  const kindsSeen = [...measured, { name: "value of a subscription after the one before", latencies: gaps }];
  return { errors: errors.length, firstError: errors[0], ...counted, lastSeen, kinds: kindsSeen };
}

interface Watching {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly lsId: string;
  readonly endsAt: number;
}

/** The last value may come this long after what it is of, on a busy machine. */
const lastValueMs = 5_000;

/**
 * Follows a show until the end and somewhat longer, and notes the time between its values.
 *
 * @returns the last total of orders
 */
async function watch({ url, headers, lsId, endsAt }: Watching, gaps: number[]): Promise<number | undefined> {
  const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { kpis { orders { total } } } }";
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { ...headers, accept: "text/event-stream" },
    body: JSON.stringify({ query, variables: { lsId } }),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const over = sleep(Math.max(0, endsAt - performance.now()) + lastValueMs);
  let orders: number | undefined;
  for (let last = performance.now(); ;) {
    const part = await Promise.race([reader?.read(), over]);
    if (part === undefined) break;
    if (part.done) throw new Error("A subscription ended.");
    const total = /.*"total":(\d+)\}/su.exec(part.value)?.[1]; // small values come whole
    if (total === undefined) continue;
    orders = Number(total);
    if (performance.now() < endsAt) gaps.push(performance.now() - last);
    last = performance.now();
  }
  await reader?.cancel();
  return orders;
}

function makeEvents() {
  return Array.from({ length: eventsPerBatch }, (_, index) => {
    const viewerId = `v${Math.floor(Math.random() * 5_000)}`;
    const common = { id: randomUUID(), channel: index % 5 === 0 ? "REPLAY" : "LIVE", viewerId };
    if (index % 10 === 3) return { ...common, type: "ADD_TO_CART", productId: `p-${index % 50}` };
    if (index % 20 === 7) return { ...common, type: "ORDER", amount: index + 0.99 };
    return { ...common, type: "VIEW", seconds: index % 120, device: index % 3 === 0 ? "desktop" : "mobile" };
  });
}
