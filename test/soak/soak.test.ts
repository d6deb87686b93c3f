// @tier long
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { answered, breakOff } from "../support/faults/breaks.js";
import type { Kind } from "../support/faults/breaks.kinds.js";
import { type Served, serveOnEmbedded, serveOnPostgresql, storeWithKinds } from "../support/faults/breaks.store.js";
import { scrape } from "../support/process/metrics.js";
import { type Random, seeded } from "../support/faults/random.js";

const minutes = 10;
const title =
  "under mixed load with broken connections, a server needs no more at the end than after a third of the time";
const lanes = 4;
const sampleMs = 5_000;
/** By how much the end may be above the part that it is compared with. */
const growthMax = 1.1;

/** What is compared, each with what it may differ by at any time: the load is at random. */
const figures = {
  process_resident_memory_bytes: 16 * 1024 * 1024,
  process_open_fds: 10,
  nodejs_active_resources: 10,
  nodejs_eventloop_lag_p50_seconds: 0.002,
} as const;
/** The exit status, other answers than expected, and what has grown. */
const sound = { status: 0, failures: [], grown: [] };
type Sample = Readonly<Record<keyof typeof figures, number>>;

test.concurrent(`embedded database: ${title}`, async (context) => {
  expect(await soak(await serveOnEmbedded(context))).toEqual(sound);
});

test.concurrent(`PostgreSQL: ${title}`, async (context) => {
  expect(await soak(await serveOnPostgresql("soak", context))).toEqual(sound);
});

async function soak({ server, database }: Served) {
  const { kinds } = await storeWithKinds(server, database);
  const samples: Sample[] = [];
  const statuses = new Map<number, number>();
  let requests = 0;
  const end = performance.now() + minutes * 60_000;
  const load = Array.from({ length: lanes }, async (_, lane) => {
    const random = seeded(lane);
    while (performance.now() < end) {
      const kind = kinds[random.whole(0, kinds.length - 1)];
      if (kind === undefined) continue;
      const status = await use(server.url, kind, (requests += 1), random);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  while (performance.now() < end) {
    samples.push(await sample(server.url));
    await sleep(sampleMs);
  }
  await Promise.all(load);
  await database.close();
  const { status } = await server.stop();
  const compared = compare(samples);
  process.stdout.write(
    `${database.engine.kind}: ${requests} requests in ${minutes} minutes, and as many broken off\n${compared.text}`,
  );
  const failures = [...statuses.keys()].filter((each) => each >= 500 && each !== 503);
  return { status, failures, grown: compared.grown };
}

/** Sends a request twice, and breaks off the second. @returns the status of the first */
async function use(url: string, { make, isStream = false }: Kind, n: number, random: Random) {
  const whole = await answered(url, make(n), isStream);
  await breakOff(url, make(-n), whole, random);
  return whole.status;
}

async function sample(url: string): Promise<Sample> {
  const series = await scrape(url);
  const sumOf = (name: string) =>
    [...series]
      .filter(([key]) => key === name || key.startsWith(`${name}{`))
      .reduce((sum, [, value]) => sum + value, 0);
  return Object.fromEntries(Object.keys(figures).map((name) => [name, sumOf(name)])) as Sample;
}

/** Compares the last sixth with the sixth after a third of the time, by their medians. */
function compare(samples: readonly Sample[]): { readonly text: string; readonly grown: readonly string[] } {
  const sixth = Math.max(1, Math.floor(samples.length / 6));
  const third = Math.floor(samples.length / 3);
  const lines: string[] = [];
  const grown: string[] = [];
  for (const [name, slack] of Object.entries(figures) as [keyof Sample, number][]) {
    const before = median(samples.slice(third, third + sixth).map((each) => each[name]));
    const after = median(samples.slice(-sixth).map((each) => each[name]));
    const line = `${name}: ${before} after a third of the time, ${after} at the end`;
    lines.push(`  ${line}\n`);
    if (after > growthMax * before + slack) grown.push(line);
  }
  return { text: lines.join(""), grown };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
