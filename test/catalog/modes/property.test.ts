import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { importCsv, importNdjson } from "../../../src/catalog/import/ways/text.js";
import { importProducts } from "../../../src/catalog/import/ways/list.js";
import { AppError } from "../../../src/errors.js";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { readAnswer } from "../../support/call.js";
import { openFolder } from "../../support/folder.js";
import { type Catalog, importInto, type Mode, type ModelRow } from "../../support/catalog/modesModel.js";
import { paths, product, type Sent, storedProducts } from "../../support/products.js";

const app = await openTestApp();
const folder = await openFolder();

interface Args {
  readonly mode: Mode | null | undefined;
  readonly errorPolicy: "REJECT_ALL" | "REJECT_FAILED";
  readonly dryRun: boolean;
  readonly maxDeletions?: number;
}

/** Sends an import: its answer, or the code of its refusal. */
type Send = (store: TestStore, list: readonly Sent[], args: Args) => Promise<any>;

const answer = "message imported created updated deleted failed failures { index line problems { code path } }";
const policy = "$errorPolicy: ImportErrorPolicy, $dryRun: Boolean";
const policyArgs = "errorPolicy: $errorPolicy, dryRun: $dryRun";
const modes = "$mode: ImportMode, $maxDeletions: Int";
const modeArgs = "mode: $mode, maxDeletions: $maxDeletions";
const operations = {
  list: `mutation ($products: [ProductInput!]!, ${modes}, ${policy}) {
    answer: importProducts(products: $products, ${modeArgs}, ${policyArgs}) { ${answer} }
  }`,
  patch: `mutation ($products: [ProductPatchInput!]!, ${policy}) {
    answer: patchProducts(products: $products, ${policyArgs}) { ${answer} }
  }`,
  csv: `mutation ($csvContent: String!, ${modes}, ${policy}) {
    answer: importProductsCsv(csvContent: $csvContent, ${modeArgs}, ${policyArgs}) { ${answer} }
  }`,
};

async function graphql(store: TestStore, query: string, variables: object): Promise<any> {
  const { data, errors } = await store.graphql(query, variables);
  return errors === undefined ? data.answer : errors[0].extensions.code;
}

async function rest(store: TestStore, path: string, body: object): Promise<any> {
  const { status, body: found } = await store.post(path, body);
  return status === 200 ? found : found.code;
}

/** As `rest`, with a file as body and the arguments in the query string. */
async function upload(store: TestStore, path: string, type: string, body: string, args: Args): Promise<any> {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const headers = { "content-type": type };
  const response = await store.fetch(`${path}?${query.toString()}`, { method: "POST", headers, body });
  const { status, body: found } = await readAnswer(response);
  return status === 200 ? found : found.code;
}

/** An import of this process: its result, or the code of its refusal. */
async function resultOf(work: Promise<object>): Promise<any> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

const ndjsonOf = (list: readonly Sent[]) => list.map((each) => `${JSON.stringify(each)}\n`).join("");

/** Only the columns that the first row has, which all rows have. */
function csvOf(list: readonly Sent[]): string {
  const columns = Object.keys(list[0] ?? product("none"));
  const cell = (value: unknown) =>
    value === null || value === undefined ? "" : `${value as string | number | boolean}`;
  return [columns, ...list.map((row) => columns.map((name) => cell(row[name])))]
    .map((cells) => `${cells.join()}\n`)
    .join("");
}

/** Where a failure is: its place in the list, or its line, of which the first row has this one. */
type FirstLine = 1 | 2 | undefined;

interface Way {
  readonly firstLine: FirstLine;
  /** Whether all rows must have the same fields. */
  readonly isUniform: boolean;
  readonly send: Send;
}

const inJson = { firstLine: undefined, isUniform: false } as const;
const inCsv = { firstLine: 2, isUniform: true } as const;
const inNdjson = { firstLine: 1, isUniform: false } as const;

const ways: Readonly<Record<string, Way>> = {
  "REST, as a list": {
    ...inJson,
    send: (store, list, args) => rest(store, paths.bulk, { products: list, ...args }),
  },
  "REST, as CSV in JSON": {
    ...inCsv,
    send: (store, list, args) => rest(store, paths.csv, { csvContent: csvOf(list), ...args }),
  },
  "REST, as text/csv": {
    ...inCsv,
    send: (store, list, args) => upload(store, paths.csv, "text/csv", csvOf(list), args),
  },
  "REST, as NDJSON": {
    ...inNdjson,
    send: (store, list, args) => upload(store, paths.bulk, "application/x-ndjson", ndjsonOf(list), args),
  },
  "GraphQL, as a list": {
    ...inJson,
    send: (store, list, args) =>
      args.mode === "PATCH"
        ? graphql(store, operations.patch, { products: list, ...args, mode: undefined })
        : graphql(store, operations.list, { products: list, ...args }),
  },
  "GraphQL, as CSV": {
    ...inCsv,
    send: (store, list, args) => graphql(store, operations.csv, { csvContent: csvOf(list), ...args }),
  },
  // As the command line imports them: on the embedded engine in short steps.
  "a CSV file": {
    ...inCsv,
    send: async (store, list, args) => {
      const file = join(folder, "products.csv");
      await writeFile(file, csvOf(list));
      return resultOf(importCsv(app.db, store.id, { file }, args));
    },
  },
  "an NDJSON file": {
    ...inNdjson,
    send: async (store, list, args) => {
      const file = join(folder, "products.ndjson");
      await writeFile(file, ndjsonOf(list));
      return resultOf(importNdjson(app.db, store.id, { file }, args));
    },
  },
};

const ids = ["a", "b", "c", "d", "e"];
const skus = ["1", "2", "3", "4", "5"];
const price = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(null, 1, 2) },
  { weight: 1, arbitrary: fc.constant(-1) },
);
const row = fc.record({
  id: fc.constantFrom(...ids),
  sku: fc.constantFrom(...skus),
  title: fc.constantFrom("x", "y"),
  price,
});
const rows = fc.oneof(
  fc.array(row, { maxLength: 6 }),
  fc.uniqueArray(row, { maxLength: 5, comparator: (a, b) => a.id === b.id || a.sku === b.sku }),
);
/** Products that are there before. */
const first = fc.uniqueArray(
  row.map((each) => ({ ...each, price: 1 })),
  { minLength: 3, maxLength: 5, comparator: (a, b) => a.id === b.id || a.sku === b.sku },
);
const policies = {
  errorPolicy: fc.constantFrom("REJECT_FAILED" as const, "REJECT_FAILED" as const, "REJECT_ALL" as const),
  dryRun: fc.constantFrom(false, false, false, true),
  way: fc.constantFrom(...Object.keys(ways)),
};
const whole = fc.record({
  ...policies,
  mode: fc.constantFrom<Args["mode"]>("UPSERT", "REPLACE", "REPLACE", undefined, null),
  rows,
  maxDeletions: fc.constantFrom(undefined, undefined, 0, 2),
});
const fields = fc
  .subarray(["id", "sku", "title", "price"] as const)
  .filter((some) => some.includes("id") || some.includes("sku"));
const pick = (from: ModelRow, names: readonly (keyof ModelRow)[]): ModelRow =>
  Object.fromEntries(names.map((name) => [name, from[name]]));
/** All rows of a CSV have the same fields. */
const patches = fc.record({
  ...policies,
  mode: fc.constant<Args["mode"]>("PATCH"),
  rows: fc.oneof(
    fc.tuple(rows, fields).map(([list, names]) => list.map((each) => pick(each, names))),
    fc
      .tuple(rows, fc.array(fields, { minLength: 6, maxLength: 6 }))
      .map(([list, names]) => list.map((each, at) => pick(each, names[at] ?? []))),
  ),
  maxDeletions: fc.constant(undefined),
});

const isUniform = (list: readonly ModelRow[]) => new Set(list.map((each) => Object.keys(each).join())).size <= 1;

/** As it is sent: rows of a patch as they are, but products whole, if they have a title to begin with. */
function sent(each: ModelRow, mode: Args["mode"]): Sent {
  return mode === "PATCH" && each.title === undefined
    ? { ...each }
    : { ...product(each.id ?? "", {}), ...wholeOf(each) };
}
const wholeOf = ({ id, sku, ...others }: ModelRow) => ({ ...others, id, sku });

async function catalogOf(store: TestStore): Promise<Catalog> {
  const stored = await storedProducts(app, store);
  return new Map(stored.map(({ id, sku, title, price: stays }) => [id, { sku, title, price: stays }]));
}

test("any import, in every mode, way and policy, has the result of a plain model of a catalog", async () => {
  const property = fc.asyncProperty(
    first,
    fc.array(fc.oneof({ weight: 2, arbitrary: whole }, { weight: 1, arbitrary: patches }), {
      minLength: 4,
      maxLength: 10,
    }),
    async (stored, requests) => {
      const store = await createTestStore(app);
      let { catalog } = importInto(new Map(), stored, "UPSERT");
      await importProducts(
        app.db,
        store.id,
        stored.map((each) => sent(each, "UPSERT")),
      );
      for (const { rows: list, way, mode, maxDeletions, ...others } of requests) {
        const { send, firstLine, ...given } = ways[way] ?? { ...inJson, send: undefined };
        if (send === undefined || (given.isUniform && !isUniform(list))) continue;
        const expected = importInto(catalog, list, mode ?? "UPSERT");
        const limit = mode === "REPLACE" && maxDeletions !== undefined ? { maxDeletions } : {};
        const found = await send(
          store,
          list.map((each) => sent(each, mode)),
          { mode, ...others, ...limit },
        );
        const isStored = expected.created + expected.updated > 0;
        const allowed = isStored ? Math.ceil(catalog.size / 2) : 0; // of few products, half is less than 10
        const isTooMuch = expected.deleted > (limit.maxDeletions ?? allowed);
        if (others.errorPolicy === "REJECT_ALL" && expected.failures.length > 0) {
          // Either is right where both are wrong: deletions are counted first, or the rows checked.
          expect(isTooMuch ? ["VALIDATION_FAILED", "TOO_MANY_DELETIONS"] : ["VALIDATION_FAILED"]).toContain(found);
        } else if (isTooMuch && !others.dryRun) {
          expect(found).toBe("TOO_MANY_DELETIONS");
        } else {
          const { created, updated, deleted, failures } = expected;
          expect(found).toMatchObject({ imported: created + updated, created, updated });
          expect(found.deleted ?? 0).toBe(deleted);
          expect(found.message.includes("would be refused")).toBe(isTooMuch);
          const listed = (found.failures ?? []).map((failure: any) => ({
            at: firstLine === undefined ? failure.index : failure.line - firstLine,
            problems: failure.problems.map(({ code, path }: any) => [code, path.at(-1)]),
          }));
          expect(listed).toEqual(failures);
          if (!others.dryRun) ({ catalog } = expected);
        }
        expect(await catalogOf(store)).toEqual(catalog);
      }
    },
  );
  await fc.assert(property, { numRuns: 120 });
});
