import { randomUUID } from "node:crypto";
import type { TestStore } from "../app.js";
import { toCsv } from "../catalog/csv.js";
import { someEvents } from "../figures.js";
import { importOne, paths, product, products } from "../products.js";
import { analyticsPath, record, saveShow, show } from "../shows.js";

/** A request of some kind, made anew each time. */
export interface Call {
  readonly name: string;
  readonly request: () => { readonly path: string; readonly method?: string; readonly body?: object };
}

/** How a request was answered: as usual, as UNAVAILABLE in every detail, or in another way, which is told. */
export interface Answered {
  readonly name: string;
  readonly how: string;
}

/**
 * Requests of each kind that uses the database. The store has the show and products of `products(10)`.
 *
 * @param longRows of an import in steps
 */
export function calls(lsId: string, longRows: number): Call[] {
  const graphql = (name: string, query: string, variables: () => object): Call => ({
    name,
    request: () => ({ path: "/graphql", method: "POST", body: { query, variables: variables() } }),
  });
  const post = (name: string, path: string, body: () => object): Call => ({
    name,
    request: () => ({ path, method: "POST", body: body() }),
  });
  return [
    { name: "product", request: () => ({ path: paths.of("p00001") }) },
    { name: "analytics", request: () => ({ path: analyticsPath(lsId) }) },
    { name: "delete and import", request: () => ({ path: paths.of("p00009"), method: "DELETE" }) },
    post("import", paths.one, () => ({ product: product("p00009") })),
    post("bulk", paths.bulk, () => ({ products: products(200) })),
    post("csv", paths.csv, () => ({ csvContent: toCsv(products(longRows)) })),
    graphql("product in GraphQL", '{ product(productId: "p00001") { id } }', () => ({})),
    graphql("list in GraphQL", "{ products(first: 2) { nodes { id } } }", () => ({})),
    graphql("import in GraphQL", importOne, () => ({ product: product("p00009") })),
    graphql("events", record, () => ({ lsId, events: someEvents(200).map((e) => ({ ...e, id: randomUUID() })) })),
    graphql("show", saveShow, () => ({ liveStream: show() })),
  ];
}

/** Makes a call, and looks at its answer closely. */
export async function answerTo(store: TestStore, { name, request }: Call): Promise<Answered> {
  const { path, method = "GET", body } = request();
  const response = await store.fetch(path, {
    method,
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const how = path === "/graphql" ? graphqlOutcome(response, text) : restOutcome(response, text);
  return { name, how };
}

/** Makes each call once, all at a time. @returns how they were answered, each way once */
export async function waysOf(store: TestStore, all: readonly Call[]): Promise<readonly string[]> {
  const answers = await Promise.all(all.map((call) => answerTo(store, call)));
  return [...new Set(answers.map(({ how }) => how))].toSorted();
}

/** Seconds until a retry; the longer ones while tables are missing. */
const retries: ReadonlySet<string> = new Set(["1", "30"]);

function restOutcome(response: Response, text: string): string {
  const { status, headers } = response;
  const { code } = JSON.parse(text) as { code?: string };
  if (status === 200 || code === "PRODUCT_NOT_FOUND") return "done";
  const isProblem = headers.get("content-type") === "application/problem+json" && code === "UNAVAILABLE";
  return status === 503 && isProblem && retries.has(headers.get("retry-after") ?? "")
    ? "unavailable"
    : `${status} ${text}`;
}

/** A request whose token could not be looked up is answered with 503, one that ran with 200. */
function graphqlOutcome({ status, headers }: Response, text: string): string {
  const { errors } = JSON.parse(text) as { errors?: { extensions: { code: string; retryAfterSeconds?: number } }[] };
  if (status === 200 && errors === undefined) return "done";
  const { code, retryAfterSeconds } = errors?.[0]?.extensions ?? {};
  const isTold = code === "UNAVAILABLE" && retries.has(String(retryAfterSeconds));
  const isStatus = status === 200 || (status === 503 && retries.has(headers.get("retry-after") ?? ""));
  return isTold && isStatus ? "unavailable" : `${status} ${text}`;
}
