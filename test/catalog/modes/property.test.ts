import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { type Catalog, type defects, importInto, type Mode, type ModelRow } from "../../support/catalog/importModel.js";
import { type ImportArgs, type ImportWay, importWays } from "../../support/catalog/ways.js";
import { openFolder } from "../../support/folder.js";
import { isLong as isLongTier } from "../../support/run/tier.js";
import { longRows, product, type Sent, storedProducts } from "../../support/products.js";

const app = await openTestApp();
const ways: Readonly<Record<string, ImportWay>> = importWays(app, await openFolder());
const plainWay = ways["REST, as a list"] as ImportWay;

const damage: Readonly<Record<keyof typeof defects, Sent>> = {
  "negative price": { price: -1 },
  "no url": { url: null },
  "available is no boolean": { available: "perhaps" },
};
const ids = ["a", "b", "c", "d", "e"];
const skus = ["1", "2", "3", "4", "5"];
const row = fc.record({
  id: fc.constantFrom(...ids),
  sku: fc.constantFrom(...skus),
  title: fc.constantFrom("x", "y"),
  price: fc.constantFrom(null, 1, 2),
  defect: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(damage) as (keyof typeof defects)[])) },
  ),
});
const isDouble = (a: ModelRow, b: ModelRow) => a.id === b.id || a.sku === b.sku;
/** Mostly rows that go together, so that skus move from product to product. */
const rows = fc.oneof(
  fc.array(row, { maxLength: 6 }),
  fc.uniqueArray(row, { maxLength: 5, comparator: isDouble }),
  fc
    .tuple(fc.shuffledSubarray(skus, { minLength: 3 }), fc.array(row, { minLength: 5, maxLength: 5 }))
    .map(([some, list]) => some.map((sku, at) => ({ ...list[at], id: ids[at] ?? "", sku }))),
);
/** Before the other rows of a long import, which is stored by several statements. */
const filler: readonly ModelRow[] = Array.from({ length: longRows }, (_, at) => {
  const id = `f${String(at).padStart(3, "0")}`;
  return { id, sku: id, title: "f", price: null };
});
/** The same fields in each row, as in a CSV, or others in each. */
const patches = fc.oneof(
  fc
    .tuple(rows, fc.subarray(["id", "sku", "title", "price"] as const, { minLength: 1 }))
    .filter(([, names]) => names.includes("id") || names.includes("sku"))
    .map(([list, names]) => list.map((each) => pick(each, names))),
  fc
    .tuple(rows, fc.array(fc.subarray(["id", "sku", "title", "price"] as const), { minLength: 6, maxLength: 6 }))
    .map(([list, names]) => list.map((each, at) => pick(each, names[at] ?? []))),
);
const given = {
  way: fc.constantFrom(...Object.keys(ways)),
  isLong: fc.nat(9).map((number) => number === 0),
  siteId: fc.constantFrom(undefined, undefined, null, "web", "web", "market"),
  errorPolicy: fc.constantFrom("REJECT_FAILED", "REJECT_FAILED", "REJECT_FAILED", "REJECT_ALL", null, undefined),
  dryRun: fc.constantFrom(false, false, false, true, null, undefined),
};
const none = fc.constant(undefined);
const request = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ ...given, rows, mode: fc.constantFrom("UPSERT", undefined, null), maxDeletions: none }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...given,
      rows,
      mode: fc.constant("REPLACE"),
      maxDeletions: fc.constantFrom(undefined, undefined, 0, 2, 400),
    }),
  },
  { weight: 2, arbitrary: fc.record({ ...given, rows: patches, mode: fc.constant("PATCH"), maxDeletions: none }) },
);

interface Sending extends ImportArgs {
  readonly way: string;
  readonly isLong: boolean;
  readonly rows: readonly ModelRow[];
}

function pick({ defect, ...from }: ModelRow, names: readonly ("id" | "sku" | "title" | "price")[]): ModelRow {
  return { ...Object.fromEntries(names.map((name) => [name, from[name]])), defect };
}

const whole = (each: ModelRow): ModelRow => ({ ...each, defect: undefined });

/** As it is sent: products whole, but of rows of a patch without a title those fields alone. */
function sentOf({ defect, ...fields }: ModelRow, mode: Mode): Sent {
  const others = mode === "PATCH" && fields.title === undefined ? {} : product(fields.id ?? "");
  const keys = "title" in fields ? { id: fields.id, sku: fields.sku } : {};
  return { ...others, ...fields, ...keys, ...(defect && damage[defect]) };
}

const hasSameFields = (list: readonly Sent[]) => new Set(list.map((each) => Object.keys(each).join())).size <= 1;

async function catalogOf(store: TestStore): Promise<Catalog> {
  const stored = await storedProducts(app, store);
  return new Map(stored.map(({ id, sku, title, price, sites }) => [id, { sku, title, price, sites }]));
}

/** What of a failure the model tells. */
function failureOf({ firstLine }: ImportWay, { line, index, id, sku, problemsTotal, problems }: any) {
  const at: number = firstLine === undefined ? index : line - firstLine;
  const told = problems.map(({ code, path }: any) => [code, path.at(-1)]);
  return { at, id, sku, problemsTotal, problems: told };
}

/** Sends an import and compares its answer with the model's. @returns the catalog that it leaves */
async function expectLikeModel(
  store: TestStore,
  catalog: Catalog,
  { way, isLong, rows: own, ...args }: Sending,
): Promise<Catalog> {
  const list = isLong ? [...filler, ...own] : own;
  const mode = args.mode ?? "UPSERT";
  const { siteId, maxDeletions } = args;
  const expected = importInto(catalog, { rows: list, mode, siteId, maxDeletions });
  const sent = list.map((each) => sentOf(each, mode));
  const chosen = ways[way] ?? plainWay;
  const { send, ...place } = chosen.isUniform === true && !hasSameFields(sent) ? plainWay : chosen;
  const found = await send(store, sent, args);
  const { created, updated, deleted, isTooMuch, failures } = expected;
  if (args.errorPolicy !== "REJECT_FAILED" && failures.length > 0) {
    // Either is right where both are wrong: deletions are counted first, or the rows checked.
    expect(isTooMuch ? ["VALIDATION_FAILED", "TOO_MANY_DELETIONS"] : ["VALIDATION_FAILED"]).toContain(found);
    return catalog;
  }
  if (isTooMuch && args.dryRun !== true) {
    expect(found).toBe("TOO_MANY_DELETIONS");
    return catalog;
  }
  expect(found).toMatchObject({ imported: created + updated, created, updated });
  expect([found.deleted ?? 0, found.failed ?? 0]).toEqual([deleted, failures.length]);
  expect(found.message.includes("would be refused")).toBe(isTooMuch);
  expect((found.failures ?? []).map((failure: any) => failureOf({ send, ...place }, failure))).toEqual(
    failures.slice(0, 100).map(({ at, id = null, problems }) => {
      return { at, id, sku: list[at]?.sku ?? null, problemsTotal: problems.length, problems };
    }),
  );
  return args.dryRun === true ? catalog : expected.catalog;
}

/** What is in the catalog before. */
const first = fc.record({
  ...given,
  rows: fc.uniqueArray(row.map(whole), { minLength: 3, maxLength: 5, comparator: isDouble }),
  way: fc.constant("products in memory"),
  isLong: fc.constant(false),
  mode: none,
  dryRun: none,
  maxDeletions: none,
});

test("any import, in every mode, way and policy, has the result of a plain model of a catalog", async () => {
  const store = await createTestStore(app);
  for (const site of ["web", "market"]) await addSite(app.db, store.id, site, "shop");
  const property = fc.asyncProperty(first, fc.array(request, { minLength: 1, maxLength: 2 }), async (...args) => {
    const [stored, requests] = args;
    await app.db.product.deleteMany({ where: { storeId: store.id } });
    let catalog: Catalog = new Map();
    for (const each of [stored, ...requests]) {
      catalog = await expectLikeModel(store, catalog, each);
      if (each !== stored) expect(await catalogOf(store)).toEqual(catalog);
    }
  });
  await fc.assert(property, isLongTier ? {} : { numRuns: 12 }); // a long import among many takes seconds on a busy machine
});
