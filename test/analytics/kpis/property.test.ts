import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import {
  accepted,
  devicesByChannel,
  documentedKpis,
  kpis,
  peakViewers,
  type SentEvent,
  timeline,
  topProducts,
} from "../../support/oracle.js";
import { analyticsPath, readAnalytics, recorded, saved, savedShow } from "../../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

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

const batches = fc.array(fc.array(eventOf(someIds), { maxLength: 25 }), { minLength: 1, maxLength: 6 });
const bucket = fc.constantFrom(60, 120, 300, 420, 3_600, 86_400);
const first = fc.constantFrom(0, 1, 3, 100);

/** What both styles answer of a show; the buckets of its timeline, and how many of its products. */
async function readBoth(store: TestStore, lsId: string, bucketSeconds = 60, top = 20) {
  const rest = await store.get(analyticsPath(lsId));
  return { rest, graphql: await store.graphql(readAnalytics, { lsId, bucketSeconds, first: top }) };
}

/** What both styles must answer: what the formulas give over the events that count, and nothing else. */
function figures(lsId: string, events: readonly SentEvent[], bucketSeconds = 60, top = 20) {
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

test("every figure follows from the first event of each id, in both styles", async () => {
  const store = await createTestStore(app);
  const property = fc.asyncProperty(batches, bucket, first, async (sent, bucketSeconds, top) => {
    const { id } = await saved(store);
    const arrived: SentEvent[] = [];
    for (const events of sent) {
      const before = accepted(arrived).length;
      arrived.push(...events);
      const fresh = accepted(arrived).length - before;
      expect(await recorded(store, id, events)).toEqual({ accepted: fresh, duplicates: events.length - fresh });
    }
    const expected = figures(id, accepted(arrived), bucketSeconds, top);
    expect(await readBoth(store, id, bucketSeconds, top)).toEqual(expected);
  });
  await fc.assert(property, { numRuns: 80 });
});

test("repeated batches change nothing, in any order and combination", async () => {
  const store = await createTestStore(app);
  const again = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 5 });
  const property = fc.asyncProperty(batches, again, async (sent, retries) => {
    const { id } = await saved(store);
    for (const events of sent) await recorded(store, id, events);
    for (const [one, other] of retries) {
      const events = [...(sent[one % sent.length] ?? []), ...(sent[other % sent.length] ?? [])].toReversed();
      expect(await recorded(store, id, events)).toEqual({ accepted: 0, duplicates: events.length });
    }
    expect(await readBoth(store, id)).toEqual(figures(id, accepted(sent.flat())));
  });
  await fc.assert(property, { numRuns: 30 });
});

/** Events of which each id has one content, and each viewer one device and source, so that the outcome has nothing to do with order. */
const settledEvents = fc
  .uniqueArray(eventOf(someIds), { selector: ({ id }) => id, minLength: 1, maxLength: 40 })
  .map((events) => events.map((event) => ({ ...event, ...originOf(event.viewerId) })));

function originOf(viewerId: string | null | undefined) {
  const place = names.indexOf(viewerId ?? "");
  return { device: devices[place] ?? null, source: sources[place] ?? null };
}

test("concurrent batches that overlap count every event once, in both styles", async () => {
  const store = await createTestStore(app);
  const overlapping = settledEvents.chain((events) =>
    fc.array(fc.shuffledSubarray(events, { minLength: 1 }), { minLength: 2, maxLength: 8 }),
  );
  const property = fc.asyncProperty(overlapping, bucket, first, async (sent, bucketSeconds, top) => {
    const { id } = await saved(store);
    const receipts = await Promise.all(sent.map((events) => recorded(store, id, events)));
    const counted = accepted(sent.flat());
    expect(receipts.reduce((sum, receipt) => sum + receipt.accepted, 0)).toBe(counted.length);
    expect(receipts.map((receipt) => receipt.accepted + receipt.duplicates)).toEqual(sent.map(({ length }) => length));
    expect(await readBoth(store, id, bucketSeconds, top)).toEqual(figures(id, counted, bucketSeconds, top));
  });
  await fc.assert(property, { numRuns: 50 });
});

test("shows and stores with the same ids of events and viewers do not mix", async () => {
  const stores = [await createTestStore(app), await createTestStore(app)] as const;
  const property = fc.asyncProperty(batches, batches, batches, async (...sent) => {
    const [{ id }, { id: otherId }] = [await saved(stores[0]), await saved(stores[0])];
    await saved(stores[1], { id });
    const shows = [
      [stores[0], id],
      [stores[0], otherId],
      [stores[1], id],
    ] as const;
    await Promise.all(
      shows.map(async ([store, lsId], index) => {
        for (const events of sent[index] ?? []) await recorded(store, lsId, events);
      }),
    );
    for (const [index, [store, lsId]] of shows.entries()) {
      expect(await readBoth(store, lsId)).toEqual(figures(lsId, accepted((sent[index] ?? []).flat())));
    }
  });
  await fc.assert(property, { numRuns: 20 });
});
