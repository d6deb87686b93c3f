import { recordEvents } from "../../events/record/events.record.js";
import { saveLiveStream } from "../../shows/liveStream.save.js";
import type { Scope } from "../../schema/scopes.js";
import { hashSecret, issueToken } from "../../stores/token.js";
import { importProducts } from "../../catalog/import/entryPoints/jsonProducts.js";
import { inTransaction } from "../../database/transaction.js";
import type { RootDatabase } from "../../database/client.js";
import type { DemoShop } from "../../server/pages/demo/demoPage.js";
import { saveMoments } from "../../shows/moments/moments.save.js";
import { momentsMax } from "../../shows/moments/moments.input.js";
import { showExample } from "../../api/rest/routes/exampleData.js";
import { momentsOf, pinNumber, pinOf } from "./moments.js";
import { addHistory, hosts, shopperVisits, type Visits, visitsPerMinute } from "./visits.js";
import { currency, movePictures, pictured, demoProducts } from "./products.js";
import { issueKey } from "../../stores/publicKey.js";
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { LiveFeed } from "../../schema/context.js";
import { findLiveStream } from "../../shows/liveStream.js";

/** The demo store. */
export interface Demo {
  readonly store: string;
  /** Undefined if an operator created the store and chose no token. */
  readonly token: string | undefined;
  /** For a dashboard link that can be shared, because it only allows reading. Undefined if `token` is. */
  readonly readOnlyToken: string | undefined;
  readonly productId: string;
  /** What `/demo` shows. Undefined if an operator created the store. */
  readonly shop: DemoShop | undefined;
}

export const demoStore = "demo";
const store = demoStore;
const storeName = "Demo store";
const productId = "linen-shirt";
export const runningShow = "autumn-looks";
const runningShowName = "Autumn looks";
const endedShow = "summer-sale";

/**
 * Creates the demo store with two tokens, if there is no other store or an operator chose its token. A chosen token
 * stays valid; a random one is replaced at the next start. Completes an interrupted creation.
 *
 * @param url of the server: the origin for the key of `/demo`, and the base of the products' pictures
 * @returns undefined if only other stores exist
 */
export async function prepareDemo(
  db: RootDatabase,
  chosenToken: string | undefined,
  url: string,
): Promise<Demo | undefined> {
  const found = await db.store.findUnique({ where: { id: store } });
  if (found === null && chosenToken === undefined && (await db.store.count()) > 0) return undefined;
  const isOurs = found === null || found.name === storeName; // if it has another name, an operator created it
  if (isOurs && !(await hasToken(db))) await fillDemoStore(db, url);
  if (isOurs) await movePictures(db, store, url);
  const none = { token: undefined, readOnlyToken: undefined };
  const tokens = isOurs || chosenToken !== undefined ? await demoTokens(db, chosenToken) : none;
  const shop = isOurs ? await demoShop(db, store, url, { id: runningShow, name: runningShowName }) : undefined;
  return { store, ...tokens, productId, shop };
}

/** Whether the store is complete: its token is issued last. */
async function hasToken(db: RootDatabase): Promise<boolean> {
  return (await db.accessToken.findFirst({ where: { storeId: store } })) !== null;
}

/** Each step is idempotent. */
async function fillDemoStore(db: RootDatabase, url: string): Promise<void> {
  await db.store.createMany({ data: { id: store, name: storeName, currency }, skipDuplicates: true });
  await db.site.createMany({ data: { storeId: store, id: "demo-shop", type: "SHOP" }, skipDuplicates: true });
  await importProducts(db, store, pictured(url));
  await addDemoShows(db);
  await addHistory(db, store);
}

async function addDemoShows(db: RootDatabase): Promise<void> {
  const [host, other] = hosts;
  const [runningMinutes, endedMinutes] = [20, 45];
  const runningSince = new Date(Date.now() - runningMinutes * 60_000);
  // When the API's examples say, so that those of its moments can be executed; never later than a week ago.
  const endedSince = new Date(Math.min(Date.parse(showExample.startedAt), Date.now() - 7 * 86_400_000));
  const running = { id: runningShow, name: runningShowName, status: "LIVE", startedAt: runningSince, host } as const;
  await saveLiveStream(db, store, running);
  const ended = { id: endedShow, name: "Summer sale", status: "ENDED", startedAt: endedSince, host } as const;
  await saveLiveStream(db, store, { ...ended, durationSeconds: endedMinutes * 60 });
  const visits = runningMinutes * visitsPerMinute;
  await recordVisits(db, runningShow, { from: runningSince, minutes: runningMinutes, visits });
  await recordVisits(db, endedShow, { from: endedSince, minutes: endedMinutes, visits: 400 });
  await saveMoments(db, store, runningShow, momentsOf(runningSince, runningMinutes));
  await saveMoments(db, store, endedShow, momentsOf(endedSince, endedMinutes, [host, other]));
}

/** Uses the same event ids each time, so that a repeated start counts them once. */
async function recordVisits(db: RootDatabase, show: string, visits: Omit<Visits, "showStart">): Promise<void> {
  const events = shopperVisits({ showStart: visits.from, ...visits });
  await recordEvents(
    db,
    store,
    show,
    events.map((event, index) => ({ ...event, id: `first-${index}` })),
  );
}

const startLabel = "demo, until the next start";
const readOnlyLabel = "demo, read only, until the next start";

async function demoTokens(db: RootDatabase, chosen: string | undefined) {
  return inTransaction(db, { timeoutMs: 10_000 }, async (transaction) => {
    const replace = async (label: string, scopes?: readonly Scope[]): Promise<string> => {
      await transaction.accessToken.deleteMany({ where: { storeId: store, label } });
      return (await issueToken(transaction, store, { label, ...(scopes && { scopes }) })).token;
    };
    const readOnlyToken = await replace(readOnlyLabel, ["analytics:read", "catalog:read"]);
    if (chosen === undefined) return { token: await replace(startLabel), readOnlyToken };
    const known = await transaction.accessToken.findUnique({ where: { hash: hashSecret(chosen) } });
    if (known === null) await issueToken(transaction, store, { label: "demo", secret: chosen });
    return { token: chosen, readOnlyToken };
  });
}

const keyLabel = "demo shop";
const shownIds: ReadonlySet<string> = new Set([
  "linen-shirt",
  "denim-jacket",
  "wool-scarf",
  "silk-dress",
  "tote-bag",
  "sunglasses",
]);

/** The shop of `/demo`. Its public key accepts pages of this server under each name of this machine. */
async function demoShop(db: RootDatabase, storeId: string, url: string, show: DemoShop["show"]): Promise<DemoShop> {
  const { origin, port } = new URL(url);
  const names = ["localhost", "127.0.0.1", "[::1]"].map((name) => new URL(`http://${name}:${port}`).origin);
  const origins = [...new Set([...names, origin])];
  const known = await db.publicKey.findFirst({ where: { storeId, label: keyLabel, revokedAt: null } });
  const { key } = known ?? (await issueKey(db, storeId, { origins, label: keyLabel }));
  if (known !== null) await db.publicKey.update({ where: { storeId, id: known.id }, data: { origins } }); // the port may have changed
  const products = demoProducts
    .filter(({ id }) => shownIds.has(id))
    .map(({ id, title, price }) => ({ id, title, price: price ?? 0 }));
  return { key, origins, show, products, currency };
}

interface TrafficOptions {
  readonly intervalMs: number;
  /** Traffic ends when the show has this many events. */
  readonly eventsMax: number;
}

const visitsOfRound = { min: 1, max: 3 };
const meanVisits = (visitsOfRound.min + visitsOfRound.max) / 2;
/** About four days of traffic; see DEMO_TRAFFIC in docs/configuration.md. */
const byDefault: TrafficOptions = { intervalMs: (meanVisits * 60_000) / visitsPerMinute, eventsMax: 100_000 };
/** Once the show has a fifth of its maximum of events, a fifth as many shoppers come. */
const slowdown = 5;

/**
 * Pins products in the running demo show and records generated visits to it, so that its dashboard moves. Ends when the show has
 * `eventsMax` events.
 *
 * @returns a function that stops it and waits for the running statement
 */
export function startDemoTraffic(db: RootDatabase, feed: LiveFeed, options = byDefault): () => Promise<void> {
  const stopped = new AbortController();
  const ended = recordTraffic(db, feed, options, stopped.signal);
  return async () => {
    stopped.abort();
    await ended;
  };
}

async function recordTraffic(
  db: RootDatabase,
  feed: LiveFeed,
  { intervalMs, eventsMax }: TrafficOptions,
  signal: AbortSignal,
): Promise<void> {
  let show: { readonly number: number; readonly startedAt: Date } | undefined;
  let stored: number | undefined;
  let pinned = 0;
  while (stored === undefined || stored < eventsMax) {
    const isSlower = stored !== undefined && stored >= eventsMax / slowdown;
    await sleep(isSlower ? intervalMs * slowdown : intervalMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      show ??= await findLiveStream(db, demoStore, runningShow);
      stored ??= await db.showEvent.count({ where: { storeId: demoStore, show: show.number } });
      if (stored >= eventsMax) return;
      const pin = pinNumber(show.startedAt, new Date());
      if (pin > pinned && pin <= momentsMax) {
        pinned = pin; // if it cannot be saved, the next one is tried
        await saveMoments(db, demoStore, runningShow, [pinOf(show.startedAt, pin)]);
      }
      stored += await visitShow(db, feed, show.startedAt);
    } catch {
      // The show was archived, or the database is down: the next round tries again.
    }
  }
}

async function visitShow(db: RootDatabase, feed: LiveFeed, showStart: Date): Promise<number> {
  const visits = randomInt(visitsOfRound.min, visitsOfRound.max + 1);
  const events = shopperVisits({ showStart, from: new Date(), minutes: 0, visits });
  const { accepted } = await recordEvents(db, demoStore, runningShow, events);
  feed.changed(demoStore, runningShow);
  return accepted;
}
