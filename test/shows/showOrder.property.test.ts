import * as fc from "fast-check";
import { expect, test } from "vitest";
import { recordEvents } from "../../src/events/record/events.record.js";
import { createTestStore, openTestApp, startApp, type TestStore } from "../support/app.js";
import { order, view } from "../support/events.js";
import { asInputs } from "../support/figures.js";
import { saved } from "../support/shows.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const list = `query ($by: LiveStreamOrder!, $way: SortDirection, $search: String, $from: DateTime, $until: DateTime,
  $status: LiveStreamStatus, $host: String, $first: Int, $after: String) {
  liveStreams(orderBy: $by, direction: $way, search: $search, from: $from, until: $until, status: $status, host: $host, first: $first, after: $after) {
    nodes { id } edges { cursor node { id } } totalCount totalCountIsExact
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

const dayMs = 86_400_000;
const start = Date.parse("2026-03-01T10:00:00Z");
/** Some of them differ in what a comparison by language or by UTF-16 would not see. */
const oddIds = ["b", "a", "B", "ä", "10", "9", "👗", "ﬀ", "a b", "zz"];
const anyShow = fc.record({
  name: fc.constantFrom("spring", "Spring", "Élan", "autumn sale", "x".repeat(300)),
  day: fc.nat(3),
  status: fc.constantFrom("LIVE", "ENDED", "SCHEDULED"),
  host: fc.constantFrom(
    null,
    { name: "Zoë 100%", email: "zoe@a.example" },
    { name: "zoe@A.example", email: "x@a.example" },
  ),
  sales: fc.array(fc.nat(2), { maxLength: 2 }),
  viewers: fc.nat(2),
});
/** Scheduled shows take no events. */
const someShow = anyShow.map((one) => (one.status === "SCHEDULED" ? { ...one, sales: [], viewers: 0 } : one));
type SomeShow = typeof someShow extends fc.Arbitrary<infer Value> ? Value : never;
const filter = fc.record({
  search: fc.constantFrom(null, "S", "sp", "%"),
  status: fc.constantFrom(null, "ENDED", "SCHEDULED"),
  host: fc.constantFrom(null, " ", "zOË 100%", " Zoe@a.Example ", "Zoë", "zoe@a%", "zoe_a.example"),
  from: fc.option(fc.nat(3)),
  days: fc.option(fc.nat(3)),
});
type Filter = typeof filter extends fc.Arbitrary<infer Value> ? Value : never;

const startOf = ({ day, status }: SomeShow) =>
  (status === "SCHEDULED" ? Date.parse("2999-01-01T00:00:00Z") : start) + day * dayMs;
const idOf = (n: number) => oddIds[n] ?? "";
const folded = (name: string) => name.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase()).slice(0, 200);

const values = {
  STARTED_AT: startOf,
  NAME: ({ name }: SomeShow) => Buffer.from(folded(name)).toString("hex"),
  SALES: ({ sales }: SomeShow) => sales.reduce((sum, amount) => sum + amount, 0),
  ORDERS: ({ sales }: SomeShow) => sales.length,
  VIEWERS: ({ viewers }: SomeShow) => viewers,
} as const;
type Order = keyof typeof values;

async function storeOf(shows: readonly SomeShow[]): Promise<TestStore> {
  const store = await createTestStore(app);
  const data = shows.map((one, n) => ({
    storeId: store.id,
    id: idOf(n),
    number: n + 1,
    name: one.name,
    status: one.status,
    startedAt: new Date(startOf(one)),
    durationSeconds: one.status === "ENDED" ? 60 : null,
    hostName: one.host?.name ?? null,
    hostEmail: one.host?.email ?? null,
  }));
  await app.db.liveStream.createMany({ data });
  for (const [n, { sales, viewers }] of shows.entries()) {
    const orders = sales.map((amount, index) => order(`o${index}`, amount));
    const views = Array.from({ length: viewers }, (_, index) => view(`v${index}`, { viewerId: `v${index}` }));
    if (orders.length + viewers > 0) await recordEvents(app.db, store.id, idOf(n), asInputs([...orders, ...views]));
  }
  return store;
}

function expected(
  shows: readonly SomeShow[],
  by: Order,
  way: string | null,
  { search, status, host, from, days }: Filter,
) {
  const sign = (way ?? (by === "NAME" ? "ASC" : "DESC")) === "ASC" ? 1 : -1;
  const value = values[by];
  const isLast = by === "STARTED_AT" && sign === -1;
  return shows
    .map((one, n) => ({ id: idOf(n), one, value: value(one), isLast: isLast && one.status === "SCHEDULED" }))
    .filter(({ id, one }) => {
      const matches = `${one.name}\n${id}`.toLowerCase().includes((search ?? "").toLowerCase());
      const since = from === null || startOf(one) >= start + from * dayMs;
      const before = days === null || startOf(one) < start + ((from ?? 0) + days) * dayMs;
      const hosts = [one.host?.name, one.host?.email].map((text) => text?.toLowerCase());
      const isHosted = !host?.trim() || hosts.includes(host.trim().toLowerCase());
      return isHosted && matches && since && before && (status === null || one.status === status);
    })
    .toSorted((a, b) => {
      if (a.isLast !== b.isLast) return a.isLast ? 1 : -1;
      const compared =
        a.value === b.value ? Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) : a.value < b.value ? -1 : 1;
      return compared * (a.isLast ? -sign : sign);
    })
    .map(({ id }) => id);
}

async function walk(store: TestStore, variables: object): Promise<{ ids: string[]; counts: Set<unknown> }> {
  const [ids, counts]: [string[], Set<unknown>] = [[], new Set()];
  let after: string | null = null;
  for (;;) {
    const { data, errors } = await store.graphql(list, { ...variables, after });
    expect(errors).toBeUndefined();
    const page: any = data.liveStreams;
    expect(page.edges.map(({ node }: any) => node)).toEqual(page.nodes);
    expect(page.pageInfo).toEqual({
      hasNextPage: expect.any(Boolean),
      hasPreviousPage: after !== null && page.nodes.length > 0,
      startCursor: page.edges[0]?.cursor ?? null,
      endCursor: page.edges.at(-1)?.cursor ?? null,
    });
    ids.push(...page.nodes.map(({ id }: { id: string }) => id));
    counts.add(page.totalCount).add(page.totalCountIsExact);
    if (!page.pageInfo.hasNextPage) return { ids, counts };
    after = page.pageInfo.endCursor;
  }
}

const populations = fc.sample(fc.array(someShow, { minLength: 7, maxLength: 10 }), 2);
const stores = await Promise.all(populations.map(async (shows) => ({ shows, store: await storeOf(shows) })));

test("every order, direction and filter lists each show once, on pages of any size", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...stores),
    fc.shuffledSubarray(Object.keys(values) as Order[], { minLength: 3, maxLength: 3 }),
    filter,
    fc.constantFrom(null, "ASC", "DESC"),
    fc.integer({ min: 1, max: 4 }),
    async ({ shows, store }, orders, some, way, first) => {
      const from = some.from === null ? null : new Date(start + some.from * dayMs);
      const until = some.days === null ? null : new Date(start + ((some.from ?? 0) + some.days) * dayMs);
      for (const by of orders) {
        const { ids, counts } = await walk(store, { ...some, by, way, first, from, until });
        expect(ids).toEqual(expected(shows, by, way, some));
        expect([...counts]).toEqual([ids.length, true]);
      }
    },
  );
  await fc.assert(property);
});

test("a cursor of another order, or a modified one, is refused", async () => {
  const store = await storeOf(
    [1, 2].map((day) => ({ name: "a", day, status: "ENDED", host: null, sales: [], viewers: 0 })),
  );
  const cursorOf = async (by: string, way?: string) =>
    (await store.graphql(list, { by, way, first: 1 })).data.liveStreams.pageInfo.endCursor as string;
  const cursors = [
    await cursorOf("STARTED_AT"),
    await cursorOf("STARTED_AT", "ASC"),
    await cursorOf("NAME"),
    await cursorOf("SALES"),
    Buffer.from(`["ORDERS","DESC","many","a"]`).toString("base64url"),
  ];
  for (const [n, after] of cursors.entries()) {
    for (const [by, way, own] of [
      ["STARTED_AT", "DESC", 0],
      ["STARTED_AT", "ASC", 1],
      ["NAME", "ASC", 2],
      ["NAME", "DESC", -1],
      ["SALES", "DESC", 3],
      ["ORDERS", "DESC", -1],
    ] as const) {
      if (n === own) continue;
      const { errors } = await store.graphql(list, { by, way, after });
      expect(errors?.map(({ extensions }) => extensions.errors[0])).toEqual([
        {
          code: "VALIDATION_FAILED",
          path: ["after"],
          message: expect.stringContaining("after must be a cursor of this list"),
        },
      ]);
    }
  }
});

test("an order by totals is one analytics read, together with KPIs; other orders are none", async () => {
  const limited = await startApp();
  try {
    const store = await createTestStore(limited);
    const left = async (args: string, nodes = "id") => {
      const response = await store.fetch("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: `{ liveStreams(${args}) { nodes { ${nodes} } } }` }),
      });
      expect(response.status).toBe(200);
      return response.headers.get("ratelimit")?.match(/"analytics";r=(\d+)/u)?.[1];
    };
    await saved(store);
    expect(await left("orderBy: SALES, first: 5")).toBe("99");
    expect(await left("orderBy: VIEWERS, direction: ASC", "kpis { orders { total } }")).toBe("98");
    expect(await left("orderBy: NAME")).toBeUndefined();
  } finally {
    await limited.close();
  }
});
