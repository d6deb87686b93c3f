import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { type Catalog, type Defect, importInto, type ModelRow } from "../../support/catalog/catalogModel.js";
import { toCsv } from "../../support/catalog/csv.js";
import { paths, product, type Sent, storedProducts } from "../../support/products.js";

const app = await openTestApp();

const fields =
  "message imported created updated failed failures { index line id sku problemsTotal problems { code path } }";
const variables = "$errorPolicy: ImportErrorPolicy, $dryRun: Boolean";
const options = "errorPolicy: $errorPolicy, dryRun: $dryRun";
const importList = `mutation ($products: [ProductInput!]!, ${variables}) {
  answer: importProducts(products: $products, ${options}) { ${fields} }
}`;
const importText = `mutation ($csvContent: String!, ${variables}) {
  answer: importProductsCsv(csvContent: $csvContent, ${options}) { ${fields} }
}`;

/** Sends an import; undefined where it is refused as a whole. */
type Send = (store: TestStore, list: readonly Sent[], args: object) => Promise<any>;

const rest =
  (path: string, content: (list: readonly Sent[]) => object): Send =>
  async (store, list, args) => {
    const { status, body } = await store.post(path, { ...content(list), ...args });
    expect([status, body.code]).toEqual(status === 200 ? [200, undefined] : [400, "VALIDATION_FAILED"]);
    return status === 200 ? body : undefined;
  };
const graphql =
  (query: string, content: (list: readonly Sent[]) => object): Send =>
  async (store, list, args) => {
    const { data, errors } = await store.graphql(query, { ...content(list), ...args });
    if (errors !== undefined) expect(errors[0].extensions.code).toBe("VALIDATION_FAILED");
    return data?.answer;
  };

const asList = (list: readonly Sent[]) => ({ products: list });
const asCsv = (list: readonly Sent[]) => ({ csvContent: toCsv(list) });
const ways = {
  "REST, as a list": { send: rest(paths.bulk, asList), isCsv: false },
  "REST, as CSV": { send: rest(paths.csv, asCsv), isCsv: true },
  "GraphQL, as a list": { send: graphql(importList, asList), isCsv: false },
  "GraphQL, as CSV": { send: graphql(importText, asCsv), isCsv: true },
} as const;

const damage: Readonly<Record<Defect, Sent>> = {
  none: {},
  "negative price": { price: -1 },
  "no url": { url: undefined },
  "available is no boolean": { available: "perhaps" },
};
const sent = ({ id, sku, title, defect }: ModelRow): Sent => product(id, { sku, title, ...damage[defect] });

const ids = ["a", "b", "c", "d", "e"];
const skus = ["1", "2", "3", "4", "5"];
const row = fc.record({
  id: fc.constantFrom(...ids),
  sku: fc.constantFrom(...skus),
  title: fc.constantFrom("x", "y"),
  defect: fc.oneof(
    { weight: 9, arbitrary: fc.constant<Defect>("none") },
    { weight: 1, arbitrary: fc.constantFrom<Defect>("negative price", "no url", "available is no boolean") },
  ),
});
/** Mostly rows that go together, so that skus move from product to product. */
const rows = fc.oneof(
  fc.array(row, { maxLength: 6 }),
  fc.uniqueArray(row, { maxLength: 5, comparator: (a, b) => a.id === b.id || a.sku === b.sku }),
  fc
    .shuffledSubarray(skus, { minLength: 3 })
    .chain((some) =>
      fc
        .record({ defects: fc.array(row, { minLength: some.length, maxLength: some.length }) })
        .map(({ defects }) => defects.map((each, at) => ({ ...each, id: ids[at] ?? "", sku: some[at] ?? "" }))),
    ),
);
const request = fc.record({
  rows,
  way: fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[])),
  errorPolicy: fc.constantFrom("REJECT_FAILED", "REJECT_FAILED", "REJECT_FAILED", "REJECT_ALL", null, undefined),
  dryRun: fc.constantFrom(false, false, false, true, null, undefined),
});

async function catalogOf(store: TestStore): Promise<Catalog> {
  return new Map((await storedProducts(app, store)).map(({ id, sku, title }) => [id, { sku, title }]));
}

test("random imports, in every way and with every policy, match a simple model of a catalog", async () => {
  const property = fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), async (requests) => {
    const store = await createTestStore(app);
    let catalog: Catalog = new Map();
    for (const { rows: list, way, errorPolicy, dryRun } of requests) {
      const expected = importInto(catalog, list);
      const isRefused = errorPolicy !== "REJECT_FAILED" && expected.failures.length > 0;
      const { send, isCsv } = ways[way];
      const answer = await send(store, list.map(sent), { errorPolicy, dryRun });
      if (isRefused) {
        expect(answer ?? undefined).toBeUndefined();
      } else {
        const { created, updated, failures } = expected;
        expect(answer).toMatchObject({ imported: created + updated, created, updated });
        const found = answer.failures?.map((failure: any) => ({
          at: isCsv ? failure.line - 2 : failure.index,
          keys: [failure.id, failure.sku, failure.problemsTotal],
          problems: failure.problems.map(({ code, path }: any) => [code, path.at(-1)]),
        }));
        const wanted = failures.map(({ at, problems }) => ({
          at,
          keys: [list[at]?.id, list[at]?.sku, problems.length],
          problems,
        }));
        expect(found ?? []).toEqual(wanted);
        expect(answer.failed ?? 0).toBe(failures.length);
        if (dryRun !== true) ({ catalog } = expected);
      }
      expect(await catalogOf(store)).toEqual(catalog);
    }
  });
  await fc.assert(property, { numRuns: 60 });
});
