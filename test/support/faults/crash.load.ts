import type { TestStore } from "../app.js";
import { NoAnswerError } from "../call.js";
import { toCsv } from "../catalog/csv.js";
import type { SentEvent } from "../oracle.js";
import { paths, product } from "../products.js";
import type { Random } from "./random.js";
import { record } from "../shows.js";

/** What its sender knows of a request: 200, another answer, or none because the server was killed. */
export type Outcome = "answered" | "refused" | "unanswered";

/** An import of all products of a set, each with the title of the write. */
interface Write {
  readonly title: string;
  outcome: Outcome;
}

/** Products that are only ever sent together. */
export interface ProductSet {
  readonly id: string;
  readonly rows: number;
  /** One after the other. */
  readonly writes: Write[];
}

/** A batch of events; what is not new in it was answered before. */
export interface Batch {
  readonly events: readonly SentEvent[];
  readonly fresh: readonly SentEvent[];
  outcome: Outcome;
}

/** Everything that was sent, and what became of it. */
export interface Sent {
  readonly sets: ProductSet[];
  readonly batches: Batch[];
}

/** Requests that are sent until the server is gone. */
export interface Load {
  readonly sent: Sent;
  /** Resolves when so many requests were answered, or sooner when all senders have ended. */
  answered(count: number): Promise<void>;
  /** Resolves when each sender has missed an answer. */
  readonly ended: Promise<void>;
}

interface Target {
  readonly store: TestStore;
  readonly lsId: string;
  /** Distinguishes this load's products from those of others. */
  readonly name: string;
  /** A public key of the store. */
  readonly key: string;
  /** Each is sent anew once. */
  readonly events: readonly SentEvent[];
}

/** CSVs, bulks, batches of events and reports of pages, from several senders at once. Each goes on until it misses an answer. */
export function startLoad(target: Target, random: Random): Load {
  const sent: Sent = { sets: [], batches: [] };
  const watchers = new Set<() => void>();
  let answers = 0;
  const deliver = async (request: { outcome: Outcome }, path: string, body: object): Promise<boolean> => {
    request.outcome = await outcomeOf(target.store, path, body);
    if (request.outcome === "answered") answers += 1;
    for (const look of watchers) look();
    return request.outcome !== "unanswered";
  };
  const importing = [csv, csv, bulk, bulk].map((form, lane) =>
    sendImports({ ...target, name: `${target.name}.${lane}` }, form, sent.sets, random.fork(), deliver),
  );
  importing.push(sendReplacements({ ...target, name: `${target.name}.site` }, sent.sets, random.fork(), deliver));
  const reported = target.events
    .slice(0, reportedEvents)
    .filter(({ type }) => type === "VIEW" || type === "ADD_TO_CART");
  const recording = [
    ...shares(target.events.slice(reportedEvents), recorders).map((events) =>
      sendEvents({ ...target, events }, sent.batches, random.fork(), deliver),
    ),
    ...shares(reported, pages).map((events) =>
      sendReports({ ...target, events }, sent.batches, random.fork(), deliver),
    ),
  ];
  const ended = Promise.all([...importing, ...recording]).then(() => undefined);
  return {
    sent,
    ended,
    answered: (count) => {
      const enough = new Promise<void>((resolve) => {
        const look = () => void (answers >= count && resolve());
        watchers.add(look);
        look();
      });
      return Promise.race([enough, ended]);
    },
  };
}

const recorders = 3;
/** So many that the server records their requests in groups. */
const pages = 12;
const reportedEvents = 1_500;

function shares<Item>(items: readonly Item[], count: number): Item[][] {
  return Array.from({ length: count }, (_, lane) => items.filter((_item, index) => index % count === lane));
}

interface ImportForm {
  readonly path: string;
  readonly rowsMax: number;
  readonly body: (rows: readonly Product[]) => object;
}

type Product = ReturnType<typeof product>;
const csv: ImportForm = { path: paths.csv, rowsMax: 20_000, body: (rows) => ({ csvContent: toCsv(rows) }) };
const bulk: ImportForm = { path: paths.bulk, rowsMax: 3_000, body: (products) => ({ products }) };

/** @returns false once there is no answer */
type Deliver = (request: { outcome: Outcome }, path: string, body: object) => Promise<boolean>;

async function outcomeOf(store: TestStore, path: string, body: object): Promise<Outcome> {
  try {
    const answer = await store.post(path, body);
    if ((answer.status === 200 || answer.status === 202) && answer.body.errors === undefined) return "answered";
    if (answer.status === 503 || answer.body.errors?.[0].extensions.code === "UNAVAILABLE") return "refused";
    throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  } catch (error) {
    if (error instanceof NoAnswerError) return "unanswered";
    throw error;
  }
}

/** Sends set after set, some of them twice, with another title. */
async function sendImports(target: Target, form: ImportForm, sets: ProductSet[], random: Random, deliver: Deliver) {
  for (let number = 0; ; number += 1) {
    const set: ProductSet = { id: `${target.name}.${number}`, rows: random.whole(500, form.rowsMax), writes: [] };
    sets.push(set);
    for (let times = random.whole(1, 2); times > 0; times -= 1) {
      const write: Write = { title: `${set.id} write ${set.writes.length}`, outcome: "unanswered" };
      set.writes.push(write);
      const rows = Array.from({ length: set.rows }, (_, row) => product(`${set.id}/${row}`, { title: write.title }));
      if (!(await deliver(write, form.path, form.body(rows)))) return;
    }
  }
}

/** The site of the products that are replaced as a whole, again and again. */
export const replacedSite = "replaced";

/** Replaces the products of a site: half of them are new each time, and as many are deleted. */
async function sendReplacements({ name }: Target, sets: ProductSet[], random: Random, deliver: Deliver) {
  const set: ProductSet = { id: name, rows: random.whole(500, 6_000), writes: [] };
  sets.push(set);
  for (;;) {
    const write: Write = { title: `${set.id} write ${set.writes.length}`, outcome: "unanswered" };
    const first = set.writes.length * Math.floor(set.rows / 2);
    set.writes.push(write);
    const rows = Array.from({ length: set.rows }, (_, row) =>
      product(`${set.id}/${first + row}`, { title: write.title, sku: `${name} ${row}` }),
    );
    const replacing = { siteId: replacedSite, mode: "REPLACE", maxDeletions: 1_000_000 };
    if (!(await deliver(write, csv.path, { ...csv.body(rows), ...replacing }))) return;
  }
}

/** Sends batch after batch; some hold events again that were recorded before. */
async function sendEvents({ lsId, events }: Target, batches: Batch[], random: Random, deliver: Deliver) {
  let [start, known] = [0, 0];
  while (start < events.length) {
    const end = Math.min(events.length, start + random.whole(100, 1_000));
    const fresh = events.slice(start, end);
    const again = events.slice(random.whole(0, known), known).slice(0, random.whole(0, 200));
    const batch: Batch = { events: [...again, ...fresh], fresh, outcome: "unanswered" };
    batches.push(batch);
    if (!(await deliver(batch, "/graphql", eventRequest(lsId, batch.events)))) return;
    start = end;
    if (known === start - fresh.length && batch.outcome === "answered") known = end;
  }
}

/** Reports a few events at a time, as a page does; some that had been reported before. */
async function sendReports({ key, lsId, events }: Target, batches: Batch[], random: Random, deliver: Deliver) {
  let known: SentEvent[] = [];
  for (let start = 0, end = 0; start < events.length; start = end) {
    end = Math.min(events.length, start + random.whole(1, 3));
    const fresh = events.slice(start, end);
    const again = known.slice(0, random.whole(0, 1));
    const batch: Batch = { events: [...again, ...fresh], fresh, outcome: "unanswered" };
    batches.push(batch);
    // Those of pages would come from "direct", unlike those that recorders send.
    const sent = batch.events.map((event) => ({ ...event, source: "unknown" }));
    if (!(await deliver(batch, "/collect/v1", { key, show: lsId, events: sent }))) return;
    known = batch.outcome === "answered" ? fresh : known;
  }
}

/** The body of a request that records events. */
export function eventRequest(lsId: string, events: readonly SentEvent[]): object {
  return { query: record, variables: { lsId, events } };
}
