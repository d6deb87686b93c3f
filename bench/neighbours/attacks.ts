import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { makeProduct } from "../products.js";
import * as bodies from "./bodies.js";
import { type Answer, send, type Sent } from "./send.js";
import { dashboard, follow } from "./subscribe.js";
import { daysShow, devicesShow, largeShow, quietShow } from "./shows.js";

/** Whom an attack is sent to, and as whom. */
export interface Target {
  readonly url: string;
  readonly store: string;
  readonly token: string;
  /** The environment of vitrine commands. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** When an attack ends: it begins nothing new once its time is over, and waits for no answer that comes too late. */
export interface End {
  readonly over: AbortSignal;
  readonly late: AbortSignal;
}

/** Does one thing once. What it gives back is looked at as an answer to the attack. */
export type Step = (target: Target, end: End) => Promise<Answer | undefined>;

export interface Attack {
  readonly name: string;
  /** What a refusal must say: its limit, or the first mistake. */
  readonly limit: RegExp;
  /** Makes what is needed; each caller repeats its step until the time is over. */
  callers(): readonly Step[];
}

const run = promisify(execFile);
const anyLimit = /at most|limit|maximum|too (many|large|long|deep)/iu;

/** So many callers that send these, one after the other, each of them from another one on. */
function sending(makeRequests: () => readonly Sent[], callers: number): () => readonly Step[] {
  return () => {
    const requests = makeRequests();
    return Array.from({ length: callers }, (_, caller): Step => {
      let number = caller;
      return (target, { late }) => {
        const sent = requests[number % requests.length];
        number += 1;
        return sent === undefined ? Promise.resolve(undefined) : send(target, sent, late);
      };
    });
  };
}

const recordOperation =
  "mutation ($lsId: String!, $events: [ShopperEventInput!]!) { recordShopperEvents(lsId: $lsId, events: $events) { accepted } }";

/** Records so many views or orders of a show. */
export function recording(lsId: string, count: number): Sent {
  const events = Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { id: randomUUID(), type: "ORDER", channel: "LIVE", amount: 1 }
      : { id: randomUUID(), type: "VIEW", channel: "LIVE", viewerId: `v${index}`, seconds: 5 },
  );
  return bodies.graphqlRequest(recordOperation, { lsId, events });
}

const record =
  (lsId: string, count: number): Step =>
  (target, { late }) =>
    send(target, recording(lsId, count), late);

/** So many subscriptions that stay open. */
function watching(lsId: string, count: number, from: (index: number) => Date): Step[] {
  return Array.from({ length: count }, (_, index): Step => async (target, { over }) => {
    await follow(target, dashboard(lsId, from(index)), over);
    return undefined;
  });
}

const deletion = (number: number): Sent => ({
  method: "DELETE",
  path: `/external/product/v1/${makeProduct(number).id}`,
});

function importAndDeletions(): Step[] {
  const sent = bodies.csvImport(100_000);
  let next = 0;
  const deletions = Array.from({ length: 12 }, (): Step => (target, { late }) => {
    next += 1;
    return send(target, deletion((next * 7_919) % 100_000), late);
  });
  return [(target, { late }) => send(target, sent, late), ...deletions];
}

const rebuild: Step = async ({ store, environment }, { over }) => {
  const args = ["dist/main.js", "analytics", "rebuild", store, largeShow];
  await run(process.execPath, args, { env: environment, signal: over });
  return undefined;
};

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/** By their numbers in bench/README.md. */
export const attacks: Readonly<Record<number, Attack>> = {
  1: { name: "a million images", limit: /250/u, callers: sending(bodies.tooManyImages, 2) },
  2: { name: "a million empty products", limit: /100,?000/u, callers: sending(bodies.emptyProducts, 2) },
  3: { name: "100,000 prices as texts", limit: /price/u, callers: sending(bodies.pricesAsText, 2) },
  4: { name: "16 MiB of brackets", limit: /\b64\b|MiB|bytes/u, callers: sending(bodies.deepVariables, 4) },
  5: { name: "operations of 9 MB", limit: /100,?000|MiB|bytes/u, callers: sending(bodies.longOperations, 2) },
  6: { name: "173 MB of response", limit: /MiB|bytes|cost/u, callers: sending(bodies.largeAnswers, 2) },
  7: { name: "a cursor of 4 MB, 290 times", limit: /4,?000|MiB|bytes|cost/u, callers: sending(bodies.longCursors, 2) },
  8: { name: "290 searches in one", limit: anyLimit, callers: sending(bodies.manySearches, 4) },
  9: { name: "20 imports whose client disconnects", limit: /\b5\b/u, callers: sending(bodies.abandonedImports, 2) },
  10: {
    name: "a CSV of 100,000 rows and 12 deleting",
    limit: /not found|no product|does not exist/iu,
    callers: importAndDeletions,
  },
  11: {
    name: "a rebuild and 12 recording",
    limit: anyLimit,
    callers: () => [rebuild, ...Array.from({ length: 12 }, () => record(largeShow, 10))],
  },
  12: {
    name: "40 timelines of 30 days",
    limit: anyLimit,
    callers: () => [
      record(daysShow, 1),
      ...watching(daysShow, 40, (index) => new Date(Date.now() - 30 * dayMs + index * minuteMs)),
    ],
  },
  13: {
    name: "300,000 devices",
    limit: anyLimit,
    callers: sending(() => [{ method: "GET", path: `/external/analytics/v1/live-streams/${devicesShow}` }], 4),
  },
  16: { name: "an import of 40,000 rows", limit: anyLimit, callers: sending(() => [bodies.csvImport(40_000)], 1) },
  17: { name: "searches of a rare word", limit: anyLimit, callers: sending(() => [bodies.search(bodies.rareWord)], 4) },
  18: {
    name: "400 dashboards",
    limit: anyLimit,
    callers: () => [record(quietShow, 1), ...watching(quietShow, 400, () => new Date(Date.now() - 60 * minuteMs))],
  },
};
