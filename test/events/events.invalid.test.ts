import { describe, expect, test } from "vitest";
import { openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { fromNow, stopClock } from "../support/clock.js";
import { order, refused, refusedWith, storedEvents, storeWithShow, view } from "../support/events.js";
import { type ExpectedProblem, graphqlError, invalidVariables } from "../support/problems.js";
import { record, recorded, saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });
const { store, lsId } = await storeWithShow(app); // nothing is stored of what is refused

const problem = (index: number, field: string, code: string, message: string): ExpectedProblem => ({
  code,
  message,
  path: ["events", index, field],
});

describe("an invalid event is reported by index and field, and nothing of its batch is stored", () => {
  const amountRange = "amount must be from 0 to 1000000000, not ";
  const { amount: _, ...freeOrder } = order("x", 0);
  const { viewerId: __, ...anonymousView } = view("x");
  const cart = { type: "ADD_TO_CART" } as const;
  const ordersOnly = "The channel REFERRAL is for ORDER and REFUND only.";
  test.each<[event: object, field: string, code: string, message: string]>([
    [view("x", { seconds: 86_400.001 }), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not 86400.001."],
    [view("x", { seconds: -0.001 }), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not -0.001."],
    [view("x", { seconds: 1e308 }), "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not 1e+308."],
    [order("x", 1_000_000_000.01), "amount", "INVALID_VALUE", `${amountRange}1000000000.01.`],
    [order("x", -0.01), "amount", "INVALID_VALUE", `${amountRange}-0.01.`],
    [view("x", { amount: -1 }), "amount", "INVALID_VALUE", `${amountRange}-1.`],
    [freeOrder, "amount", "REQUIRED", "An ORDER needs an amount."],
    [{ ...freeOrder, amount: null }, "amount", "REQUIRED", "An ORDER needs an amount."],
    [view("x", { channel: "REFERRAL" }), "channel", "INVALID_VALUE", ordersOnly],
    [view("x", { ...cart, channel: "REFERRAL" }), "channel", "INVALID_VALUE", ordersOnly],
    [anonymousView, "viewerId", "REQUIRED", "VIEW needs a viewerId."],
    [{ ...anonymousView, ...cart }, "viewerId", "REQUIRED", "ADD_TO_CART needs a viewerId."],
    [view("x", { viewerId: " " }), "viewerId", "REQUIRED", "viewerId must not be blank."],
    [view(""), "id", "REQUIRED", "id must not be blank."],
    [view("x".repeat(256)), "id", "TOO_LONG", "id must have at most 255 characters."],
    [view("x", { productId: "a\0" }), "productId", "INVALID_VALUE", "productId must not contain a NUL character."],
    [view("x", { device: "x".repeat(256) }), "device", "TOO_LONG", "device must have at most 255 characters."],
  ])("%.80j", async (event, field, code, message) => {
    const events = [view("a"), view("b"), event, order("c", 1)];
    expect(await store.graphql(record, { lsId, events })).toEqual(refused(problem(2, field, code, message)));
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("every problem is reported, those of an event in the order of its fields", async () => {
    const events = [view("", { seconds: -1, amount: 2e9 }), view("ok"), freeOrder];
    expect(await store.graphql(record, { lsId, events })).toEqual(
      refused(
        problem(0, "id", "REQUIRED", "id must not be blank."),
        problem(0, "seconds", "INVALID_VALUE", "seconds must be from 0 to 86400, not -1."),
        problem(0, "amount", "INVALID_VALUE", `${amountRange}2000000000.`),
        problem(2, "amount", "REQUIRED", "An ORDER needs an amount."),
      ),
    );
  });

  test("the first 100 problems are listed, and all are counted", async () => {
    const events = Array.from({ length: 250 }, (_unused, index) => order(`o${index}`, -1));
    const listed = events
      .slice(0, 100)
      .map((_unused, index) => problem(index, "amount", "INVALID_VALUE", `${amountRange}-1.`));
    const message = "250 problems; the first 100 are listed. Nothing was stored.";
    const error = graphqlError("VALIDATION_FAILED", message, listed);
    const expected = refusedWith({ ...error, extensions: { ...error.extensions, errorsTotal: 250 } });
    expect(await store.graphql(record, { lsId, events })).toEqual(expected);
  });

  test("values of another type, unknown fields and null", async () => {
    const events = [
      { id: 1, type: "BUY", channel: "TV", viewerId: 5, device: true, seconds: "60", amount: "1", occurredAt: "now" },
      { ...view("b"), price: 1 },
      null,
      "VIEW",
    ];
    expect(await store.graphql(record, { lsId, events })).toEqual(
      invalidVariables(
        problem(0, "id", "INVALID_TYPE", "id must be a string, not 1."),
        problem(0, "type", "INVALID_TYPE", 'type must be one of VIEW, ADD_TO_CART, ORDER, REFUND, not "BUY".'),
        problem(0, "channel", "INVALID_TYPE", 'channel must be one of LIVE, REPLAY, REFERRAL, AUTO, not "TV".'),
        problem(0, "viewerId", "INVALID_TYPE", "viewerId must be a string, not 5."),
        problem(0, "device", "INVALID_TYPE", "device must be a string, not true."),
        problem(0, "seconds", "INVALID_TYPE", 'seconds must be a number, not "60".'),
        problem(0, "amount", "INVALID_TYPE", 'amount must be a number, not "1".'),
        problem(
          0,
          "occurredAt",
          "INVALID_TYPE",
          'occurredAt must be an ISO 8601 timestamp with a time zone, not "now".',
        ),
        problem(1, "price", "UNKNOWN_FIELD", 'Unknown field "price".'),
        { code: "REQUIRED", message: "events[2] is required.", path: ["events", 2] },
        { code: "INVALID_TYPE", message: 'events[3] must be an object, not "VIEW".', path: ["events", 3] },
      ),
    );
    expect(await storedEvents(app, store)).toBe(0);
  });
});

describe("numbers that are not finite", () => {
  const operation = JSON.stringify(record);
  /** Sends variables as JSON text, which may hold what JSON.stringify would not write. */
  function send(event: string) {
    const body = `{"query":${operation},"variables":{"lsId":${JSON.stringify(lsId)},"events":[${event}]}}`;
    const headers = { "content-type": "application/json" };
    return store.fetch("/graphql", { method: "POST", headers, body }).then(readAnswer);
  }

  test.for(["amount", "seconds"])("1e999 as %s, which JSON parses as infinity, is refused", async (field) => {
    for (const value of ["1e999", "-1e999"]) {
      const event = `{"id":"x","type":"ORDER","channel":"LIVE","amount":1,"${field}":${value}}`;
      const { status, body } = await send(event);
      const expected = invalidVariables(
        problem(
          0,
          field,
          "INVALID_TYPE",
          `${field} must be a number, not ${value.startsWith("-") ? "-" : ""}Infinity.`,
        ),
      );
      expect([status, body]).toEqual([200, expected]);
    }
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("1e999 written into the operation is refused", async () => {
    const event = '{ id: "x", type: ORDER, channel: LIVE, amount: 1e999 }';
    const query = `mutation { recordShopperEvents(lsId: "${lsId}", events: [${event}]) { accepted } }`;
    const { data, errors } = await store.graphql(query);
    expect(data).toEqual({ recordShopperEvents: null });
    expect(errors).toMatchObject([{ extensions: { code: "VALIDATION_FAILED" } }]);
    expect(await storedEvents(app, store)).toBe(0);
  });
});

describe("the time of an event", () => {
  const tooEarly = "occurredAt must be at most a day before the start of the show, not ";
  const tooLate = "occurredAt must be at most five minutes from now, not ";
  const startMs = Date.parse("2026-05-04T18:30:00.000Z");
  const iso = (ms: number) => new Date(ms).toISOString();
  const at = (id: string, ms: number) => view(id, { occurredAt: new Date(ms).toISOString() });

  test("is accepted from a day before the show's start until five minutes from now", async () => {
    const { store: own, lsId: show } = await storeWithShow(app);
    stopClock();
    const events = [at("first", startMs - 86_400_000), at("last", fromNow(300_000).getTime())];
    expect(await recorded(own, show, events)).toEqual({ accepted: 2, duplicates: 0 });
  });

  test("is refused before that: each such event is reported, and nothing of the batch is stored", async () => {
    const events = [view("a"), at("b", startMs - 86_400_001), at("c", startMs), at("d", 0)];
    const problems = [
      problem(1, "occurredAt", "INVALID_VALUE", `${tooEarly}${iso(startMs - 86_400_001)}.`),
      problem(3, "occurredAt", "INVALID_VALUE", `${tooEarly}${iso(0)}.`),
    ];
    expect(await store.graphql(record, { lsId, events })).toEqual(refused(...problems));
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("is refused after that, and nothing is stored", async () => {
    stopClock();
    const late = fromNow(300_001).getTime();
    const events = [view("a"), at("b", late)];
    const expected = refused(problem(1, "occurredAt", "INVALID_VALUE", `${tooLate}${iso(late)}.`));
    expect(await store.graphql(record, { lsId, events })).toEqual(expected);
    expect(await storedEvents(app, store)).toBe(0);
  });

  test("keeps the events of a show whose start is changed, and accepts those of its new time", async () => {
    const { store: own, lsId: show } = await storeWithShow(app);
    await recorded(own, show, [at("a", startMs)]);
    await saved(own, { id: show, startedAt: "2026-06-04T18:30:00.000Z" });
    const early = refused(problem(0, "occurredAt", "INVALID_VALUE", `${tooEarly}${iso(startMs)}.`));
    expect(await own.graphql(record, { lsId: show, events: [at("b", startMs)] })).toEqual(early);
    expect(await recorded(own, show, [at("c", Date.parse("2026-06-04T00:00:00Z"))])).toMatchObject({ accepted: 1 });
    expect(await storedEvents(app, own)).toBe(2);
  });
});
