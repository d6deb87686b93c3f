import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { importProducts } from "../../../src/catalog/import/entryPoints/jsonProducts.js";
import { importCsv, importNdjson } from "../../../src/catalog/import/entryPoints/fileProducts.js";
import { AppError } from "../../../src/errors.js";
import type { TestApp, TestStore } from "../app.js";
import { readAnswer } from "../call.js";
import { productFieldNames } from "../../../src/files/product/product.fields.js";
import { longRows, paths, product, products, type Sent } from "../products.js";
import { toCsv } from "./csv.js";
import type { Mode } from "./importModel.js";

export interface ImportArgs {
  readonly mode?: Mode | null | undefined;
  readonly siteId?: string | null | undefined;
  readonly errorPolicy?: "REJECT_ALL" | "REJECT_FAILED" | null | undefined;
  readonly dryRun?: boolean | null | undefined;
  readonly maxDeletions?: number | null | undefined;
}

/** Sends an import: its answer, or the code of its refusal. */
type Send = (store: TestStore, list: readonly Sent[], args: ImportArgs) => Promise<any>;

/** A way to import a list of products. */
export interface ImportWay {
  /** The line of the first row, where failures have lines. */
  readonly firstLine?: number;
  /** Rows of a patch must have the same fields: what one lacks is cleared. */
  readonly isUniform?: boolean;
  readonly send: Send;
}

const options = {
  siteId: "String",
  errorPolicy: "ImportErrorPolicy",
  dryRun: "Boolean",
  mode: "ImportMode",
  maxDeletions: "Int",
} as const;
const answer =
  "message imported created updated deleted failed failures { index line id sku problemsTotal problems { code path } }";

function graphql(field: string, argument: string, type: string, without: readonly string[] = []) {
  const own = Object.entries(options).filter(([name]) => !without.includes(name));
  const defined = own.map(([name, of]) => `, $${name}: ${of}`).join("");
  const given = own.map(([name]) => `, ${name}: $${name}`).join("");
  const query = `mutation ($value: ${type}${defined}) {
    answer: ${field}(${argument}: $value${given}) { ${answer} }
  }`;
  return async (store: TestStore, value: unknown, args: ImportArgs): Promise<any> => {
    const { data, errors } = await store.graphql(query, { value, ...args });
    return errors === undefined ? data.answer : errors[0].extensions.code;
  };
}

const ofGraphql = {
  one: graphql("importProduct", "product", "ProductInput!"),
  list: graphql("importProducts", "products", "[ProductInput!]!"),
  patch: graphql("patchProducts", "products", "[ProductPatchInput!]!", ["mode", "maxDeletions"]),
  csv: graphql("importProductsCsv", "csvContent", "String!"),
};

/** Posts a JSON body. */
async function rest(store: TestStore, path: string, body: object): Promise<any> {
  const { status, body: found } = await store.post(path, body);
  return status === 200 ? found : found.code;
}

/** Posts a file, with the arguments in the query string. */
export async function upload(
  store: TestStore,
  path: string,
  file: { readonly type: string; readonly body: string },
  args: object,
): Promise<any> {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  const headers = { "content-type": file.type };
  const response = await store.fetch(`${path}?${query.toString()}`, { method: "POST", headers, body: file.body });
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

export const ndjsonOf = (list: readonly Sent[]) => list.map((each) => `${JSON.stringify(each)}\n`).join("");

/** The columns that a row has. */
function csvOf(list: readonly Sent[]): string {
  return toCsv(list, [...new Set((list.length === 0 ? [product("none")] : list).flatMap((each) => Object.keys(each)))]);
}

/** Arguments as a function of this process takes them. */
const ofProcess = ({ siteId, ...others }: ImportArgs) => ({ ...others, ...(siteId && { site: { siteId } }) });
const inCsv = { firstLine: 2, isUniform: true } as const;

/** Every way to import a list. @param folder for files */
export function importWays({ db }: Pick<TestApp, "db">, folder: string) {
  const fileOf = async (id: string, text: string) => {
    const file = join(folder, id);
    await writeFile(file, text);
    return { file };
  };
  return {
    "REST, as a list": { send: (store, list, args) => rest(store, paths.bulk, { products: list, ...args }) },
    "REST, as CSV in JSON": {
      ...inCsv,
      send: (store, list, args) => rest(store, paths.csv, { csvContent: csvOf(list), ...args }),
    },
    "REST, as text/csv": {
      ...inCsv,
      send: (store, list, args) => upload(store, paths.csv, { type: "text/csv", body: csvOf(list) }, args),
    },
    "REST, as NDJSON": {
      firstLine: 1,
      send: (store, list, args) =>
        upload(store, paths.bulk, { type: "application/x-ndjson", body: ndjsonOf(list) }, args),
    },
    "GraphQL, as a list": {
      send: (store, list, { mode, ...args }) =>
        mode === "PATCH" ? ofGraphql.patch(store, list, args) : ofGraphql.list(store, list, { mode, ...args }),
    },
    "GraphQL, as CSV": { ...inCsv, send: (store, list, args) => ofGraphql.csv(store, csvOf(list), args) },
    // As commands import them.
    "a CSV file": {
      ...inCsv,
      send: async ({ id }, list, args) => resultOf(importCsv(db, id, await fileOf(id, csvOf(list)), ofProcess(args))),
    },
    "an NDJSON file": {
      firstLine: 1,
      send: async ({ id }, list, args) =>
        resultOf(importNdjson(db, id, await fileOf(id, ndjsonOf(list)), ofProcess(args))),
    },
    "products in memory": { send: ({ id }, list, args) => resultOf(importProducts(db, id, list, ofProcess(args))) },
  } as const satisfies Readonly<Record<string, ImportWay>>;
}

/** Ways to import products one by one: the answers to each. */
const oneByOne: Readonly<Record<string, Send>> = {
  "over REST": (store, list, args) => inTurn(list, (each) => rest(store, paths.one, { product: each, ...args })),
  "over GraphQL": (store, list, args) => inTurn(list, (each) => ofGraphql.one(store, each, args)),
};

async function inTurn(list: readonly Sent[], send: (each: Sent) => Promise<unknown>): Promise<unknown[]> {
  const answers = [];
  for (const each of list) answers.push(await send(each));
  return answers;
}

/** A patch that has the same effect as the whole product: what that lacks is null. */
const cleared = (each: Sent): Sent => Object.fromEntries(productFieldNames.map((name) => [name, each[name] ?? null]));
/** With it, rows are stored from the table that an import collects its rows in. */
const failing = { id: "fails" };

type StoreWay = (store: TestStore, list: readonly Sent[]) => Promise<unknown>;

/**
 * Every way to store whole products, by each way in and each kind of statement; those of a group belong together. Where it is beside
 * a long list, the ids of that begin with a p.
 */
export function waysToStore(app: Pick<TestApp, "db">, folder: string): Record<string, Record<string, StoreWay>> {
  const ways = importWays(app, folder);
  const asList = ways["REST, as a list"].send;
  const patches: ImportArgs = { mode: "PATCH" };
  const ofWay = ({ send }: ImportWay): Record<string, StoreWay> => ({
    whole: (store, list) => send(store, list, {}),
    patches: (store, list) => send(store, list.map(cleared), patches),
  });
  const ofMode = (mode: Mode): Record<string, StoreWay> => {
    const asSent = (list: readonly Sent[]) => (mode === "PATCH" ? list.map(cleared) : list);
    return {
      "beside a failing row": (store, list) =>
        asList(store, [...asSent(list), failing], { mode, errorPolicy: "REJECT_FAILED" }),
      long: (store, list) => asList(store, [...products(longRows), ...asSent(list)], { mode }),
    };
  };
  return {
    ...mapValues<ImportWay, Record<string, StoreWay>>(ways, ofWay),
    ...mapValues(modes, ofMode),
    "one by one": {
      ...mapValues(
        oneByOne,
        (send): StoreWay =>
          (store, list) =>
            send(store, list, {}),
      ),
      "in patches of one field each": storeFieldByField,
    },
  };
}

const modes = { UPSERT: "UPSERT", PATCH: "PATCH", REPLACE: "REPLACE" } as const;

function mapValues<From, To>(values: Readonly<Record<string, From>>, of: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, of(value)]));
}

async function storeFieldByField(store: TestStore, list: readonly Sent[]): Promise<unknown> {
  const body = { mode: "PATCH", products: list.map(({ id }) => product(String(id), { sku: `new ${String(id)}` })) };
  const prices = { price: null, price_min: null, price_max: null }; // no old price is below a new one meanwhile
  return inTurn(
    [
      body,
      { ...body, products: list.map(({ id }) => ({ id, ...prices })) },
      ...productFieldNames.map((name) => ({
        ...body,
        products: list.map(({ id, [name]: value = null }) => ({ id, [name]: name === "id" ? id : value })),
      })),
    ],
    (each) => rest(store, paths.bulk, each),
  );
}
