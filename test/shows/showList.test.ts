import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../support/app.js";
import { graphqlError } from "../support/problems.js";
import { insertShows } from "../support/figures.js";
import { saved, type SentShow } from "../support/shows.js";
import { anyText } from "../support/fuzz/anyText.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const list = `
  query ($first: Int, $after: String, $status: LiveStreamStatus) {
    liveStreams(first: $first, after: $after, status: $status) { nodes { id } pageInfo { hasNextPage endCursor } }
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

async function readPage(store: TestStore, variables: PageArguments): Promise<Listed> {
  const { data, errors } = await store.graphql(list, variables);
  expect(errors).toBeUndefined();
  const { nodes, pageInfo } = data.liveStreams;
  return { ids: nodes.map(({ id }: any) => id), ...pageInfo };
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
  const shows = ["b", "a", "B", "ä", "10", "9", "👗", "ﬀ", "a b", "zz"].map((id, index) => {
    const startedAt = `2026-05-0${1 + (index % 3)}T00:00:00.00${index % 2}Z`;
    return { id, startedAt, status: (["LIVE", "ENDED", "ARCHIVED"] as const)[index % 3] ?? "LIVE" };
  });
  await insertShows(app.db, store.id, shows);
  return { store, shows };
}

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
  const { endCursor: after } = await readPage(store, { first: 100 });
  expect((await readPage(store, { first: 100, after })).ids).toEqual(ids.slice(100));
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
  const { store: listed } = await storeWithShows();
  const stranger = await createTestStore(app);
  const { id } = await saved(stranger, { startedAt: "2020-01-01T00:00:00.000Z" });
  const { endCursor } = await readPage(listed, { first: 3 });
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
  await fc.assert(property);
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
