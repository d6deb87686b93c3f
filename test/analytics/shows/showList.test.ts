import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { graphqlError } from "../../support/problems.js";
import { saved, type SentShow } from "../../support/shows.js";
import { anyText } from "../../support/fuzz/anyText.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const list = `
  query ($first: Int, $after: String, $status: LiveStreamStatus) {
    liveStreams(first: $first, after: $after, status: $status) {
      nodes { id }
      edges { cursor node { id } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;

interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly status?: string | null | undefined;
}

interface Listed {
  readonly ids: string[];
  readonly endCursor: string | null;
  readonly hasNextPage: boolean;
}

/** Reads a page, of which the parts must agree with each other. */
async function readPage(store: TestStore, variables: PageArguments): Promise<Listed> {
  const { data, errors } = await store.graphql(list, variables);
  expect(errors).toBeUndefined();
  const { nodes, edges, pageInfo } = data.liveStreams;
  expect(edges.map((edge: any) => edge.node)).toEqual(nodes);
  expect(pageInfo).toEqual({
    hasNextPage: expect.any(Boolean),
    hasPreviousPage: typeof variables.after === "string" && nodes.length > 0,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  });
  return { ids: nodes.map(({ id }: any) => id), endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}

/** Walks through the list, page after page. */
async function walk(store: TestStore, first: number, status?: string): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | null = null;
  for (;;) {
    const page: Listed = await readPage(store, { first, after, status });
    pages.push(page.ids);
    if (!page.hasNextPage) return pages;
    after = page.endCursor;
  }
}

/** Newest first; of those that start together, the greater id first. */
function inOrder(shows: readonly Pick<SentShow, "id" | "startedAt">[]): string[] {
  return shows
    .toSorted(
      (a, b) =>
        Date.parse(b.startedAt) - Date.parse(a.startedAt) || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)),
    )
    .map(({ id }) => id);
}

/** Ten shows, of which many start together and the ids do not follow the times. */
async function storeWithShows() {
  const store = await createTestStore(app);
  const shows: SentShow[] = [];
  for (const [index, id] of ["b", "a", "B", "ä", "10", "9", "👗", "ﬀ", "a b", "zz"].entries()) {
    const startedAt = `2026-05-0${1 + (index % 3)}T00:00:00.00${index % 2}Z`;
    const status = ["LIVE", "ENDED", "ARCHIVED"][index % 3] ?? "";
    shows.push(await saved(store, { id, startedAt, status }));
  }
  return { store, shows };
}

test("shows are listed newest first, then by id, each exactly once, at any page size", async () => {
  const { store, shows } = await storeWithShows();
  for (let first = 1; first <= shows.length + 1; first += 1) {
    const pages = await walk(store, first);
    expect(pages.flat()).toEqual(inOrder(shows));
    expect(pages.slice(0, -1).every((page) => page.length === first)).toBe(true);
    expect(pages).toHaveLength(Math.ceil(shows.length / first));
  }
});

test.for(["LIVE", "ENDED", "ARCHIVED"])(
  "shows filtered by %s are those in that status and no other",
  async (status) => {
    const { store, shows } = await storeWithShows();
    const wanted = shows.filter((show) => show.status === status);
    for (const first of [1, 2, 100]) expect((await walk(store, first, status)).flat()).toEqual(inOrder(wanted));
  },
);

test("a page has 20 shows where no size is given, as many as 100, and none for 0", async () => {
  const store = await createTestStore(app);
  const startedAt = new Date("2026-05-04T18:30:00.000Z");
  const ids = Array.from({ length: 103 }, (_, index) => `show-${String(index).padStart(3, "0")}`).toReversed();
  const values = { storeId: store.id, name: "Show", status: "LIVE", startedAt };
  await app.db.liveStream.createMany({ data: ids.map((id, index) => ({ ...values, id, number: index + 1 })) });
  expect((await readPage(store, {})).ids).toEqual(ids.slice(0, 20));
  expect((await readPage(store, { first: null, after: null, status: null })).ids).toEqual(ids.slice(0, 20));
  expect((await readPage(store, { first: 100 })).ids).toEqual(ids.slice(0, 100));
  expect(await readPage(store, { first: 0 })).toEqual({ ids: [], endCursor: null, hasNextPage: true });
  expect((await walk(store, 100)).flat()).toEqual(ids);
});

test("paging returns every show that existed at its start, even if shows are added and renamed meanwhile", async () => {
  const { store, shows } = await storeWithShows();
  const start = await readPage(store, { first: 4 });
  await saved(store, { id: "newer", startedAt: "2027-01-01T00:00:00.000Z" });
  await saved(store, { ...shows.find(({ id }) => id === start.ids[0]), name: "Renamed", status: "ARCHIVED" });
  const rest = await readPage(store, { first: 100, after: start.endCursor });
  expect([...start.ids, ...rest.ids]).toEqual(inOrder(shows));
});

test("an empty store has an empty list", async () => {
  const store = await createTestStore(app);
  expect(await readPage(store, {})).toEqual({ ids: [], endCursor: null, hasNextPage: false });
});

test("a list, and a cursor, show a store its own shows only", async () => {
  const { store } = await storeWithShows();
  const stranger = await createTestStore(app);
  const { id } = await saved(stranger, { startedAt: "2020-01-01T00:00:00.000Z" });
  const { endCursor } = await readPage(store, { first: 3 });
  expect((await readPage(stranger, {})).ids).toEqual([id]);
  expect((await readPage(stranger, { after: endCursor })).ids).toEqual([id]);
});

const cursor = (...key: readonly unknown[]) => Buffer.from(JSON.stringify(key)).toString("base64url");
const notACursor = graphqlError("VALIDATION_FAILED", "after must be a cursor of this list.", [
  { code: "VALIDATION_FAILED", message: "after must be a cursor of this list.", path: ["after"] },
]);

test("a cursor of another list is refused", async () => {
  const store = await createTestStore(app);
  const refusal = {
    errors: [{ ...notACursor, path: ["liveStreams"], locations: expect.any(Array) }],
    data: { liveStreams: null },
  };
  const moment = "2026-05-04T18:30:00.000Z";
  const madeUp = [
    " ",
    "nonsense",
    cursor(),
    cursor(moment),
    cursor("p1"),
    cursor(moment, "id", "more"),
    cursor(moment, 5),
    cursor(0, "id"),
    cursor("not a moment", "id"),
    cursor(moment, "a\0b"),
    cursor("0000-01-01T00:00:00.000Z", "id"),
    cursor("-000001-01-01T00:00:00.000Z", "id"),
    cursor("+275760-09-13T00:00:00.000Z", "id"),
  ];
  for (const after of madeUp) expect(await store.graphql(list, { after })).toEqual(refusal);
});

test("no text as a cursor causes an internal error", async () => {
  const store = await createTestStore(app);
  const text = fc.oneof(
    anyText(),
    fc.json().map((json) => Buffer.from(json).toString("base64url")),
    fc
      .tuple(
        fc.oneof(
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          fc.string(),
        ),
        fc.string(),
      )
      .map((key) => cursor(...key)),
  );
  const property = fc.asyncProperty(text, async (after) => {
    const { data, errors } = await store.graphql(list, { after });
    if (errors === undefined) expect(data.liveStreams.nodes).toEqual([]);
    else expect(errors).toMatchObject([{ extensions: { code: "VALIDATION_FAILED" } }]);
  });
  await fc.assert(property, { numRuns: 100 });
});

test.for([-1, 101, 2_147_483_647])("a page of %i shows is refused", async (first) => {
  const store = await createTestStore(app);
  const problem = { code: "VALIDATION_FAILED", message: `first must be from 0 to 100, not ${first}.`, path: ["first"] };
  const error = graphqlError("VALIDATION_FAILED", problem.message, [problem]);
  expect(await store.graphql(list, { first })).toEqual({
    errors: [{ ...error, path: ["liveStreams"], locations: expect.any(Array) }],
    data: { liveStreams: null },
  });
});
