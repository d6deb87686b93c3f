import { checkProduct, type ProductInput } from "../../catalog/product.input.js";
import { type AppError, type ErrorCode, errorAt, Problems, validationFailed } from "../../errors.js";
import { analyticsExample, csvExample, eventsExample, scarf, shirt, showExample } from "./exampleData.js";
import { commonErrors, problemExample } from "./problems.js";
import type { ApiLimits } from "./types.js";
import type { ProblemDetails } from "../problemDetails.js";
import { documentedFields, type RestRoute } from "../routes.js";

/** Examples for the document. On the demo store each can be sent as it is. */
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
  /** Checks invalid input, so that the example has the real messages. */
  readonly findProblems?: (problems: Problems) => void;
}

const badPrice = { ...shirt, price: -1 };
const badUrl = { ...scarf, url: "javascript:alert(1)" };

const newShow = "summer-looks";
const { id: _, endedAt: _endedAt, ...sentShow } = showExample;

const operations: Readonly<Record<string, OperationExamples>> = {
  importProduct: {
    request: { product: shirt },
    answer: { message: "1 product was imported.", imported: 1, created: 1, updated: 0 },
    findProblems: (problems) => void checkProduct(badPrice, { path: ["product"] }, problems),
  },
  importProducts: {
    request: { products: [shirt, scarf] },
    answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
    findProblems: (problems) =>
      [badPrice, badUrl].forEach((product, index) => checkProduct(product, { path: ["products", index] }, problems)),
  },
  importProductsCsv: {
    request: { csvContent: csvExample },
    answer: { message: "2 products were imported.", imported: 2, created: 2, updated: 0 },
    findProblems: (problems) => void checkProduct(badPrice, { path: ["csvContent"], line: 2 }, problems),
  },
  product: { answer: pick(shirt, documentedFields["Product"] ?? []) },
  deleteProduct: { answer: { message: `Product ${scarf.id} was deleted.` } },
  liveStreamAnalytics: { answer: analyticsExample },
  liveStreams: {
    answer: { nodes: [showExample], pageInfo: { hasNextPage: false, endCursor: "WyIyMDI2Il0" }, totalCount: 1 },
  },
  saveLiveStream: { request: { liveStream: sentShow }, answer: { ...showExample, id: newShow } },
  recordShopperEvents: { request: { events: eventsExample }, answer: { accepted: 3, duplicates: 0 } },
};

/** Examples by operation and parameter. Another product is deleted than is read, so that both can be tried in any order. */
const parameters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  product: { productId: shirt.id },
  deleteProduct: { productId: scarf.id },
  liveStreamAnalytics: { lsId: analyticsExample.id },
  saveLiveStream: { lsId: newShow },
  recordShopperEvents: { lsId: showExample.id },
};

export function documentExamples(limits: ApiLimits): Examples {
  const common = commonErrors(limits);
  return {
    request: ({ operation }) => operations[operation]?.request,
    answer: ({ operation }) => operations[operation]?.answer,
    parameter: ({ operation }, name) => parameters[operation]?.[name],
    problem: (route, code) => problemExample(errorOf(route, code) ?? common[code]),
  };
}

/** An error that differs for this operation. */
function errorOf({ operation, method, path }: RestRoute, code: ErrorCode): AppError | undefined {
  const findProblems = operations[operation]?.findProblems;
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
