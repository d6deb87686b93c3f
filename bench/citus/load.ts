import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { recordOperation } from "../storage/stage.js";
import { percentile } from "../table.js";
import { show, type Stage, type StoreOfNode } from "./stage.js";

/** What callers of some stores saw. */
export interface Seen {
  readonly calls: number;
  /** How many had each outcome but success: an HTTP status, or the code of a GraphQL error. */
  readonly failed: Readonly<Record<string, number>>;
  readonly longestMs: number;
  readonly p99Ms: number;
  /** The longest time without a successful call. */
  readonly longestGapMs: number;
}

interface Call {
  readonly ms: number;
  readonly outcome: string;
}

const good = "OK";
const eventsOfBatch = 50;
const pauseMs = 10;
const timeoutMs = 60_000;

/** Callers of stores who record events, read, and import a product, each one call after the other, until they are stopped. */
export function callStores({ url }: Pick<Stage, "url">, stores: readonly StoreOfNode[], callersOfStore: number) {
  const calls: Call[] = [];
  const over = new AbortController();
  let accepted = 0;
  let lastGood = performance.now();
  let longestGapMs = 0;
  const noteGap = (): void => {
    longestGapMs = Math.max(longestGapMs, performance.now() - lastGood);
  };
  const call = async (store: StoreOfNode, number: number): Promise<void> => {
    const start = performance.now();
    const { outcome, events } = await callOnce(url, store, number).catch((error: unknown) => ({
      outcome: String(error),
      events: 0,
    }));
    accepted += events;
    calls.push({ ms: performance.now() - start, outcome });
    if (outcome !== good) return sleep(100);
    noteGap();
    lastGood = performance.now();
  };
  const callers = stores.flatMap((store) =>
    Array.from({ length: callersOfStore }, async (_, caller) => {
      for (let number = caller; !over.signal.aborted; number += 1) {
        await call(store, number);
        await sleep(pauseMs);
      }
    }),
  );
  /** Calls so far: connections were made, and names kept. */
  const forget = (): void => {
    calls.splice(0);
    longestGapMs = 0;
  };
  const end = async (): Promise<Seen & { readonly accepted: number }> => {
    over.abort();
    await Promise.all(callers);
    noteGap();
    const failed: Record<string, number> = {};
    for (const { outcome } of calls) if (outcome !== good) failed[outcome] = (failed[outcome] ?? 0) + 1;
    const times = calls.map(({ ms }) => ms);
    const p99Ms = percentile(times, 0.99);
    return { calls: calls.length, failed, longestMs: Math.max(...times), p99Ms, longestGapMs, accepted };
  };
  return { forget, end };
}

async function callOnce(
  url: string,
  { token }: StoreOfNode,
  number: number,
): Promise<{ outcome: string; events: number }> {
  const headers = { "content-type": "application/json", "x-service-access-token": token };
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
  if (number % 4 === 1) {
    const response = await fetch(`${url}/external/product/v1/p${number % 20}`, {
      headers,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    return { outcome: response.status === 200 || response.status === 400 ? good : String(response.status), events: 0 };
  }
  if (number % 4 === 2) {
    const id = `p${number % 20}`;
    const page = `https://shop.example/${id}`;
    const product = { id, sku: id, title: "A shirt", available: true, url: page, featured_image: `${page}.jpg` };
    const query = "mutation ($product: ProductInput!) { importProduct(product: $product) { __typename } }";
    return outcomeOf(await post("/graphql", { query, variables: { product } }));
  }
  const event = () => ({
    id: randomUUID(),
    type: "VIEW",
    channel: "LIVE",
    viewerId: randomUUID(),
    seconds: 5,
    device: "mobile",
  });
  const variables = { lsId: show, events: Array.from({ length: eventsOfBatch }, event) };
  return outcomeOf(await post("/graphql", { query: recordOperation, variables }));
}

async function outcomeOf(response: Response): Promise<{ outcome: string; events: number }> {
  const text = await response.text();
  if (response.status !== 200) return { outcome: String(response.status), events: 0 };
  const { data, errors } = JSON.parse(text) as { data?: any; errors?: any[] };
  const code = errors?.[0]?.extensions?.code;
  return { outcome: code ?? good, events: data?.recordShopperEvents?.accepted ?? 0 };
}
