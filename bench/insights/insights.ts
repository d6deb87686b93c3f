import { setStage, type Stage } from "../storage/stage.js";
import { graphql } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { storeShows } from "./shows.js";

const rounds = 15;
const size = { shows: 1_000, products: 10_000, eventsPerShow: 10_000 };
const kpis =
  "sales { total } orders { total } viewers { total unique } conversionRate averageOrderValue addToCart { avg }";

interface Read {
  readonly work: string;
  readonly field: string;
  readonly must: number;
  readonly aim: number;
}

/** Figures over shows: milliseconds from a request to its answer, one at a time. */
export async function benchInsights(): Promise<Row[]> {
  const stage = await setStage();
  const end = new Date();
  progress(`insights: making the totals of ${size.shows} shows`);
  await storeShows(stage.databaseUrl, stage.store, end, size);
  const year = `from: "${new Date(end.getTime() - 365 * 86_400_000).toISOString()}", until: "${end.toISOString()}", timeZone: "Europe/Berlin"`;
  const time = year.replace(/, timeZone.*/u, "");
  const reads: readonly Read[] = [
    {
      work: "storeAnalytics of 1,000 shows: key figures",
      field: `storeAnalytics(${year}) { showCount kpis { ${kpis} } }`,
      must: 50,
      aim: 15,
    },
    {
      work: "the same with its best shows",
      field: `storeAnalytics(${year}) { kpis { ${kpis} } topShows { name kpis { ${kpis} } } }`,
      must: 50,
      aim: 15,
    },
    {
      work: "timeline of a year by day",
      field: `storeAnalytics(${year}) { timeline { startsAt orders sales carts } }`,
      must: 100,
      aim: 30,
    },
    {
      work: "productPerformance over a year, with products",
      field: `productPerformance(${time}) { nodes { productId product { title } carts orders sales shows } }`,
      must: 100,
      aim: 30,
    },
    {
      work: "products(first: 50) with performance of a year",
      field: `products(first: 50) { nodes { id performance(${time}) { sales shows } } }`,
      must: 100,
      aim: 30,
    },
    {
      work: "liveStreams(first: 50) with kpis",
      field: `liveStreams(first: 50) { nodes { id name kpis { ${kpis} } } }`,
      must: 15,
      aim: 8,
    },
    {
      work: "the same by sales",
      field: `liveStreams(first: 50, orderBy: SALES) { nodes { id name kpis { ${kpis} } } }`,
      must: 50,
      aim: 15,
    },
  ];
  const rows: Row[] = [];
  for (const { work, field, must, aim } of reads) {
    rows.push({ work, values: await times(stage, `{ ${field} }`), digits: 1, unit: "ms", bound: atMost(must, aim) });
  }
  return rows;
}

async function times(stage: Stage, operation: string): Promise<number[]> {
  for (let warm = 0; warm < 3; warm += 1) await graphql(stage, operation, {}); // compiled from the third use on
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await graphql(stage, operation, {});
    values.push(performance.now() - start);
  }
  return values;
}
