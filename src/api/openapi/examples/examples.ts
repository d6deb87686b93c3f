import { exampleProduct, type ProductInput } from "../../../files/product/product.fields.js";
import { checkProduct } from "../../../files/product/product.input.js";
import { AppError, type ErrorCode, errorAt, Problems, validationFailed } from "../../../errors.js";
import {
  analyticsExample,
  csvExample,
  eventsExample,
  fullAnalyticsExample,
  orderExample,
  previewExample,
  rangeExample,
  scarf,
  sentOrderExample,
  showExample,
  soldExample,
  storeAnalyticsExample,
  storedShirt,
  timelineExample,
} from "./exampleData.js";
import { commonErrors, problemExample } from "../answers/problems.js";
import type { ApiLimits } from "../types.js";
import type { ProblemDetails } from "../../rest/problemDetails.js";
import { documentedFields } from "../../rest/routes/routes.contract.js";
import { bodyTypesOf, type RestRoute } from "../../rest/routes/route.js";

/** Examples for the document. Each can be sent to the demo store as it is. */
export interface Examples {
  /** A valid body; undefined if the operation has none. */
  request(route: RestRoute): unknown;
  answer(route: RestRoute): unknown;
  parameter(route: RestRoute, name: string): string | undefined;
  problem(route: RestRoute, code: ErrorCode): ProblemDetails;
}

interface OperationExamples {
  readonly request?: unknown;
  readonly answer: unknown;
  /** Checks invalid input, so that the example contains the real messages. */
  readonly findProblems?: (problems: Problems) => void;
}

const badPrice = { ...exampleProduct, price: -1 };
const badUrl = { ...scarf, url: "javascript:alert(1)" };

const newShow = "summer-looks";
const { id: _, endedAt: _endedAt, ...sentShow } = showExample;

const operations: Readonly<Record<string, OperationExamples>> = {
  importProduct: {
    request: { product: exampleProduct },
    answer: { message: "1 product was imported.", imported: 1, created: 1, updated: 0 },
    findProblems: (problems) => void checkProduct(badPrice, { path: ["product"] }, problems),
  },
  importProducts: {
    request: { products: [exampleProduct, scarf] },
    answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
    findProblems: (problems) =>
      [badPrice, badUrl].forEach((product, index) => checkProduct(product, { path: ["products", index] }, problems)),
  },
  importProductsCsv: {
    request: { csvContent: csvExample },
    answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
    findProblems: (problems) => void checkProduct(badPrice, { path: ["csvContent"], line: 2 }, problems),
  },
  getProduct: { answer: pick(exampleProduct, documentedFields["Product"] ?? []) },
  deleteProduct: { answer: { message: `Product ${scarf.id} was deleted.` } },
  getLiveStreamAnalytics: { answer: analyticsExample },
  listLiveStreams: { answer: page(showExample) },
  saveLiveStream: { request: { liveStream: sentShow }, answer: { ...showExample, id: newShow } },
  recordShopperEvents: { request: { events: eventsExample }, answer: { accepted: 3, duplicates: 0 } },
  recordOrders: { request: { orders: [sentOrderExample] }, answer: { accepted: 1, duplicates: 0 } },
  listOrders: { answer: page(orderExample) },
  getOrder: { answer: orderExample },
  previewAttribution: { answer: previewExample },
  getLiveStream: { answer: showExample },
  getLiveStreamKpis: { answer: fullAnalyticsExample },
  getLiveStreamTimeline: { answer: { timeline: [timelineExample] } },
  getLiveStreamTopProducts: { answer: { topProducts: [{ ...soldExample, product: storedShirt }] } },
  getStoreAnalytics: { answer: storeAnalyticsExample },
  listProductPerformance: { answer: page({ ...soldExample, product: storedShirt, refunds: 59.9, shows: 1 }) },
  listProducts: { answer: page(storedShirt) },
  getStore: { answer: { id: "demo", name: "Demo store", timeZone: "UTC", scopes: ["catalog:read", "analytics:read"] } },
};

/** A list with one item. */
function page(node: object): object {
  const pageInfo = { hasNextPage: false, endCursor: "WyIyMDI2Il0" };
  return { nodes: [node], pageInfo, totalCount: 1, totalCountIsExact: true };
}

/** Examples by operation and parameter. Read and delete name different products, so that both work in any order. */
const parameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getProduct: { productId: exampleProduct.id },
  deleteProduct: { productId: scarf.id },
  getLiveStreamAnalytics: { lsId: analyticsExample.id },
  saveLiveStream: { lsId: newShow },
  recordShopperEvents: { lsId: showExample.id },
  getOrder: { id: sentOrderExample.id },
  previewAttribution: { rule: "LAST_SHOW" },
  getLiveStream: { lsId: showExample.id },
  getLiveStreamKpis: { lsId: showExample.id },
  getLiveStreamTimeline: { lsId: showExample.id },
  getLiveStreamTopProducts: { lsId: showExample.id },
  getStoreAnalytics: rangeExample,
  listProductPerformance: rangeExample,
};

export function documentExamples(limits: ApiLimits): Examples {
  const common = commonErrors(limits);
  return {
    request: ({ operationId }) => operations[operationId]?.request,
    answer: ({ operationId }) => operations[operationId]?.answer,
    parameter: ({ operationId }, name) => parameters[operationId]?.[name],
    problem: (route, code) => problemExample(errorOf(route, code) ?? common[code]),
  };
}

/** An error whose message depends on the operation. */
function errorOf(route: RestRoute, code: ErrorCode): AppError | undefined {
  const { operationId, method, path } = route;
  if (code === "UNSUPPORTED_MEDIA_TYPE") return new AppError(code, `The content-type must be ${bodyTypesOf(route)}.`);
  const findProblems = operations[operationId]?.findProblems;
  if (code === "VALIDATION_FAILED" && findProblems !== undefined) {
    const problems = new Problems();
    findProblems(problems);
    return validationFailed(problems);
  }
  const [, name] = /:(\w+)/u.exec(path) ?? [];
  if (code === "BAD_REQUEST" && method !== "POST" && name !== undefined) {
    return errorAt("BAD_REQUEST", `${name} is not percent-encoded UTF-8.`, [name]);
  }
  return undefined;
}

function pick(product: ProductInput, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(product).filter(([name]) => names.includes(name)));
}
