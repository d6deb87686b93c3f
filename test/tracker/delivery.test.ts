import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createDelivery } from "../../src/tracker/delivery.js";
import { createOutbox } from "../../src/tracker/outbox.js";
import { stopTimers } from "../support/clock.js";

// What becomes of events whose request is refused. That they reach the service from a page is tested in test/browser/tracker/.

declare global {
  /** What Node.js has not, or of another form. */
  function addEventListener(name: string, listener: () => void, capture: boolean): void;
  interface Navigator {
    sendBeacon(url: string, body: string): boolean;
  }
}

type Answer = "none" | { readonly status: number; readonly retryAfter?: string; readonly body?: object };

const taken = { status: 202, body: { accepted: 1 } };
const problem = { type: "urn:vitrine:problem:validation-failed", errors: [{ path: [] }] };

let [answer, sent, beacons]: [Answer, string[][], string[]] = [taken, [], []];
beforeEach(() => {
  [answer, sent, beacons] = [taken, [], []];
  const idsOf = (body: string): string[] =>
    JSON.parse(body).events.map(({ id, occurredAt }: { id: string; occurredAt?: string }) =>
      occurredAt === undefined ? id : `${id} of ${occurredAt}`,
    );
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    sent.push(idsOf(body));
    if (answer === "none") throw new TypeError("Failed to fetch");
    const { status, retryAfter, body: json } = answer;
    const headers = new Headers(retryAfter === undefined ? {} : { "retry-after": retryAfter });
    return { status, headers, json: async () => json ?? Promise.reject(new SyntaxError("It is a page.")) };
  });
  vi.stubGlobal("navigator", { sendBeacon: (_: string, body: string) => beacons.push(...idsOf(body)) > 0 });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.spyOn(console, "warn").mockReturnValue();
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
});

/** A page that counts events, with the key of a shop. */
function openPage() {
  const timers = stopTimers();
  const outbox = createOutbox();
  const delivery = createDelivery("https://vitrine.example/collect/v1", { key: "key" }, outbox);
  const count = async (id: string, show = "show", at?: number) => {
    outbox.add({ id, show, type: "VIEW", channel: "LIVE", viewerId: "v", at });
    delivery.send();
    await timers.run(0);
  };
  return { timers, delivery, count };
}

test.each([400, 410, 422])("events that the service refuses with %i are given up", async (status) => {
  const { timers, count } = openPage();
  answer = { status, body: problem };
  await count("a");
  await timers.run(3_600_000);
  expect(sent).toEqual([["a"]]);
});

test("an event whose time is refused, since the browser's clock is wrong, is sent again without it, and then given up", async () => {
  const { timers, count } = openPage();
  answer = { status: 400, body: { ...problem, errors: [{ path: ["events", 0, "occurredAt"] }] } };
  await count("a", "show", Date.UTC(2001, 0));
  await timers.run(3_600_000);
  expect(sent).toEqual([["a of 2001-01-01T00:00:00.000Z"], ["a"]]);
});

test.each<[string, Answer]>([
  ["no answer", "none"],
  ["503", { status: 503 }],
  ["429, and when to come back", { status: 429, retryAfter: "1" }],
  ["200 and a page", { status: 200 }],
  ["202, but no receipt", { status: 202, body: { ok: true } }],
  ["400, but no problem of the service", { status: 400, body: { type: "about:blank" } }],
  ["403 of a firewall", { status: 403 }],
  ["404 of the service", { status: 404, body: problem }],
  ["413 of a proxy", { status: 413 }],
])(
  "events that are answered with %s are sent again, together with those that came meanwhile, until they arrive",
  async (_, given) => {
    const { timers, count } = openPage();
    answer = given;
    await count("a");
    await count("b");
    expect(sent).toEqual([["a"]]);
    await timers.run(10_000);
    expect(sent.length).toBeGreaterThan(1);
    answer = taken;
    await timers.run(60_000);
    expect(sent.at(-1)).toEqual(["a", "b"]);
    const { length } = sent;
    await timers.run(3_600_000);
    expect(sent).toHaveLength(length);
  },
);

test.each([
  ["the least", 0, 2_000],
  ["half", 0.5, 5_500],
  ["the most", 1, 9_000],
])(
  "pages that are refused at once come back over as long as they wait, and five seconds: %s",
  async (_, random, waitMs) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    const { timers, count } = openPage();
    answer = { status: 429, retryAfter: "2" };
    await count("a");
    await timers.run(waitMs - 1);
    expect(sent).toHaveLength(1);
    await timers.run(1);
    expect(sent).toHaveLength(2);
  },
);

test("events of a show that has not started wait, and hold up no other's", async () => {
  const { timers, count } = openPage();
  answer = { status: 425, body: problem, retryAfter: "1" };
  await count("early");
  answer = taken;
  await count("other", "running");
  expect(sent).toEqual([["early"], ["other"]]);
  await timers.run(60_000);
  await count("late", "running");
  expect(sent.flat()).toEqual(["early", "other", "early", "late"]);
});

test.each([401, 403])(
  "while the service refuses the key with %i, nothing is sent for three minutes, nor by a beacon",
  async (status) => {
    const { timers, delivery, count } = openPage();
    answer = { status, body: { type: "urn:vitrine:problem:forbidden" } };
    await count("a");
    await count("b");
    delivery.beacon();
    await timers.run(179_000);
    expect([sent, beacons]).toEqual([[["a"]], []]);
    answer = taken;
    await timers.run(600_000);
    expect(sent).toEqual([["a"], ["a", "b"]]);
  },
);
