import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordEvents } from "../../../src/events/record/events.record.js";
import { createTestStore, openTestApp, openTestDatabase, type TestStore } from "../../support/app.js";
import { asInputs, expectedFigures, figuresOf, insertShows, newShow } from "../../support/figures.js";
import {
  accepted,
  devicesByChannel,
  kpis,
  peakViewers,
  type SentEvent,
  timeline,
  topProducts,
} from "../../support/oracle.js";
import { analyticsPath, documentedKpis, readAnalytics, recorded, savedShow } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const { client: db } = openTestDatabase(); // of which no server folds the totals

const startMs = Date.parse("2026-05-04T18:30:00.000Z");

/** Values that a database or a literal of an array might take for something else are among the names. */
const names = [
  "v1",
  "V1",
  "NULL,NULL",
  "{NULL}",
  "{a,b}",
  'say "hi"',
  "back\\slash",
  "Zoë 👗",
  " v1",
  "constructor",
  "00",
];
const devices = [
  "mobile",
  "Mobile",
  "MOBILE",
  "desktop",
  "dEsKtOp",
  "unknown",
  "Smart TV",
  "ÉCRAN",
  "__proto__",
  "null",
];

const sources = ["instagram.com", "WWW.Instagram.com", " mail ", "other", "null", "unknown", "Ünder", "www.", "a,b"];

const cents = fc.integer({ min: 0, max: 1_000_000 }).map((units) => units / 100);
const decimals = (max: number) =>
  fc.oneof(
    { weight: 4, arbitrary: cents.filter((value) => value <= max) },
    { weight: 2, arbitrary: fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true }) },
    { weight: 1, arbitrary: fc.constantFrom(0, 0.1, 0.2, 0.005, 1.005, 0.015, 1e-7, 33.333, max, max - 0.01) },
  );

const occurredAt = fc
  .tuple(fc.integer({ min: -1, max: 200 }), fc.constantFrom(0, 1, 29_999, 59_999))
  .map(([minutes, ms]) => new Date(startMs + minutes * 60_000 + ms).toISOString());

const kinds = fc.constantFrom(
  { type: "VIEW", channel: "LIVE" },
  { type: "VIEW", channel: "REPLAY" },
  { type: "ADD_TO_CART", channel: "LIVE" },
  { type: "ADD_TO_CART", channel: "REPLAY" },
  { type: "ORDER", channel: "LIVE" },
  { type: "ORDER", channel: "REPLAY" },
  { type: "ORDER", channel: "REFERRAL" },
  { type: "REFUND", channel: "LIVE" },
  { type: "REFUND", channel: "REFERRAL" },
) satisfies fc.Arbitrary<Pick<SentEvent, "type" | "channel">>;

const line = fc.record({
  productId: fc.constantFrom("shirt", "scarf", "👗"),
  quantity: fc.integer({ min: 1, max: 1_000_000 }),
  amount: decimals(1e8),
});

/** An event with whatever its type allows: seconds of a VIEW count, those of anything else are there to be ignored. */
function eventOf(ids: fc.Arbitrary<string>): fc.Arbitrary<SentEvent> {
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 4 });
  return fc
    .record({
      kind: kinds,
      id: ids,
      viewer: fc.constantFrom(...names),
      anonymous: fc.boolean(),
      device: maybe(fc.constantFrom(...devices, "")),
      source: maybe(fc.constantFrom(...sources, "")),
      seconds: maybe(decimals(86_400)),
      amount: maybe(decimals(1e9)),
      price: decimals(1e9),
      productId: maybe(fc.constantFrom("shirt", "Shirt", "scarf", "null", "Zoë", "ﬀ", "👗", "a,b")),
      lines: maybe(fc.array(line, { maxLength: 3 })),
      occurredAt,
    })
    .map(({ kind, viewer, anonymous, amount, price, lines, ...others }) => {
      const ofOrder = kind.type === "ORDER" || kind.type === "REFUND";
      const ofLines = (lines ?? []).reduce((sum, { amount: own }) => sum + own, 0);
      const bought = ofOrder ? { amount: Math.max(price, ofLines), lines } : { amount };
      return { ...others, ...kind, ...bought, viewerId: ofOrder && anonymous ? null : viewer };
    });
}

/** Ids from so few that many come twice, with other content. */
const someIds = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 60 }).map((n) => `e${n}`) },
  { weight: 1, arbitrary: fc.constantFrom("E1", "e1 ", "null", '"', "\\", "{}", "é", "e\u0301") },
);

const batches = fc.array(fc.array(eventOf(someIds), { maxLength: 15 }), { minLength: 1, maxLength: 3 });
const bucket = fc.constantFrom(60, 120, 300, 420, 3_600, 86_400);
const first = fc.constantFrom(0, 1, 3, 100);

/** What both styles answer of a show; the buckets of its timeline, and how many of its products. */
async function readBoth(store: TestStore, lsId: string, bucketSeconds: number, top: number) {
  const rest = await store.get(analyticsPath(lsId));
  return { rest, graphql: await store.graphql(readAnalytics, { lsId, bucketSeconds, first: top }) };
}

/** What both styles must answer: what the formulas give over the events that count, and nothing else. */
function figures(lsId: string, events: readonly SentEvent[], bucketSeconds: number, top: number) {
  const documented = savedShow({ id: lsId });
  const body = { ...documented, kpis: documentedKpis(events) };
  const liveStreamAnalytics = {
    ...documented,
    status: "ENDED",
    kpis: kpis(events),
    peakConcurrentViewers: peakViewers(events),
    timeline: timeline(events, bucketSeconds),
    topProducts: topProducts(events, top),
    devicesByChannel: devicesByChannel(events),
  };
  return {
    rest: { status: 200, type: "application/json; charset=utf-8", body },
    graphql: { data: { liveStreamAnalytics } },
  };
}

const [store, other] = [await createTestStore(app), await createTestStore(app)];

// Another show of the store has events with the same ids, of the same viewers, and shows of another store have the same ids, too.
const ended = (lsId: string) => ({ id: lsId, status: "ENDED", startedAt: "2026-05-04T18:30:00Z" }) as const;
const twins = ["show 0", "show 1", "show 2", "show 3"];
await insertShows(app.db, store.id, [ended("neighbour")]);
await insertShows(app.db, other.id, twins.map(ended));
for (const [{ id: storeId }, lsId] of [[store, "neighbour"] as const, ...twins.map((twin) => [other, twin] as const)]) {
  await recordEvents(app.db, storeId, lsId, asInputs(fc.sample(eventOf(someIds), 100)));
}
let shows = 0;

function receiptOf(before: readonly SentEvent[], events: readonly SentEvent[]) {
  const fresh = accepted([...before, ...events]).length - accepted(before).length;
  return { accepted: fresh, duplicates: events.length - fresh };
}

test("every figure follows from the first event of each id, in both styles: what comes again, or for other shows, changes nothing", async () => {
  const retries = fc.array(fc.nat(), { maxLength: 1 });
  const property = fc.asyncProperty(batches, retries, bucket, first, async (sent, again, bucketSeconds, top) => {
    const id = `show ${shows++}`;
    await insertShows(app.db, store.id, [ended(id)]);
    const arrived: SentEvent[] = [];
    for (const events of [...sent, ...again.map((place) => (sent[place % sent.length] ?? []).toReversed())]) {
      expect(await recorded(store, id, events)).toEqual(receiptOf(arrived, events));
      arrived.push(...events);
    }
    const expected = figures(id, accepted(arrived), bucketSeconds, top);
    expect(await readBoth(store, id, bucketSeconds, top)).toEqual(expected);
  });
  await fc.assert(property);
});

/** Events of which each id has one content, and each viewer one device and source, so that the outcome has nothing to do with order. */
const settledEvents = fc
  .uniqueArray(eventOf(someIds), { selector: ({ id }) => id, minLength: 1, maxLength: 20 })
  .map((events) => events.map((event) => ({ ...event, ...originOf(event.viewerId) })));

function originOf(viewerId: string | null | undefined) {
  const place = names.indexOf(viewerId ?? "");
  return { device: devices[place] ?? null, source: sources[place] ?? null };
}

test("concurrent batches that overlap count every event once", async () => {
  const overlapping = settledEvents.chain((events) =>
    fc.array(fc.shuffledSubarray(events, { minLength: 1 }), { minLength: 2, maxLength: 4 }),
  );
  const property = fc.asyncProperty(overlapping, async (sent) => {
    const show = await newShow(db, store.id);
    const receipts = await Promise.all(
      sent.map((events) => recordEvents(db, show.storeId, show.lsId, asInputs(events))),
    );
    const counted = accepted(sent.flat());
    expect(receipts.reduce((sum, receipt) => sum + receipt.accepted, 0)).toBe(counted.length);
    expect(receipts.map((receipt) => receipt.accepted + receipt.duplicates)).toEqual(sent.map(({ length }) => length));
    expect(await figuresOf(db, show)).toEqual(expectedFigures(counted));
  });
  await fc.assert(property);
});
