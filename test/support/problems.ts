/** One problem of an error answer. */
export interface ExpectedProblem {
  readonly code: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
  readonly line?: number;
}

const titles: Readonly<Record<string, readonly [status: number, title: string]>> = {
  BAD_REQUEST: [400, "Bad request"],
  VALIDATION_FAILED: [400, "Validation failed"],
  SITE_NOT_FOUND: [400, "Site not found"],
  PRODUCT_NOT_FOUND: [400, "Product not found"],
  UNAUTHENTICATED: [401, "Access token missing or invalid"],
  LIVE_STREAM_NOT_FOUND: [404, "Live stream not found"],
  ORDER_NOT_FOUND: [404, "Order not found"],
  NOT_FOUND: [404, "Not found"],
  METHOD_NOT_ALLOWED: [405, "Method not allowed"],
  PERSISTED_QUERY_NOT_FOUND: [404, "Persisted operation not found"],
  PERSISTED_QUERY_NOT_SUPPORTED: [400, "Persisted operations not supported"],
  NOT_ACCEPTABLE: [406, "Not acceptable"],
  REQUEST_TIMEOUT: [408, "Request timeout"],
  PAYLOAD_TOO_LARGE: [413, "Payload too large"],
  RESPONSE_TOO_LARGE: [400, "Response too large"],
  TOO_EARLY: [425, "Show not started"],
  URI_TOO_LONG: [414, "URI too long"],
  UNSUPPORTED_MEDIA_TYPE: [415, "Unsupported media type"],
  TOO_MANY_DELETIONS: [400, "Too many deletions"],
  IDEMPOTENCY_KEY_REUSED: [422, "Idempotency key used for another request"],
  PRECONDITION_FAILED: [412, "Precondition failed"],
  IDEMPOTENCY_KEY_IN_USE: [409, "Idempotency key in use"],
  RATE_LIMITED: [429, "Too many requests"],
  HEADERS_TOO_LARGE: [431, "Request header fields too large"],
  INTERNAL: [500, "Internal error"],
  UNAVAILABLE: [503, "Service unavailable"],
};

/** The problem details of an error. */
export function problemBody(
  code: string,
  detail: string,
  errors: readonly ExpectedProblem[] = [{ code, message: detail, path: [] }],
) {
  const [status, title] = titles[code] ?? [];
  return {
    type: `urn:vitrine:problem:${code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status,
    detail,
    code,
    errors,
    errorsTotal: errors.length,
  };
}

/** A whole error answer of REST. */
export function refusal(code: string, detail: string, errors?: readonly ExpectedProblem[]) {
  const body = problemBody(code, detail, errors);
  return { status: body.status, type: "application/problem+json", body };
}

/** A whole answer of REST to invalid input. */
export function invalid(...errors: readonly ExpectedProblem[]) {
  return refusal("VALIDATION_FAILED", invalidDetail(errors), errors);
}

/** The answer of REST where the store has no such site. */
export const noSite = refusal(
  "SITE_NOT_FOUND",
  "The store has no site with this siteId. An operator adds it with `npx vitrine site add`.",
  [
    {
      code: "SITE_NOT_FOUND",
      message: "The store has no site with this siteId. An operator adds it with `npx vitrine site add`.",
      path: ["siteId"],
    },
  ],
);

/** What GraphQL answers where the same input comes in variables: the same list, and no data. */
export function invalidVariables(...errors: readonly ExpectedProblem[]) {
  return { errors: [graphqlError("VALIDATION_FAILED", invalidDetail(errors), errors)] };
}

/** One error of a GraphQL answer. */
export function graphqlError(
  code: string,
  message: string,
  errors: readonly ExpectedProblem[] = [{ code, message, path: [] }],
) {
  return { message, extensions: { code, errors, errorsTotal: errors.length } };
}

/** A whole GraphQL answer to a refused operation that has one error and never started. */
export function refusedOperation(message: string, line?: number, column?: number) {
  const place = line === undefined ? {} : { locations: [{ line, column }] };
  return { errors: [{ ...graphqlError("BAD_REQUEST", message), ...place }] };
}

/** How a message shows what was sent instead, given in a few ordinary characters: `, not "cheap".` */
export function notThis(value: unknown): string {
  const shown = Array.isArray(value)
    ? "an array"
    : typeof value === "object" && value !== null
      ? "an object"
      : typeof value === "string" && value.length > 60
        ? JSON.stringify(`${value.slice(0, 60)}…`)
        : JSON.stringify(value);
  return `, not ${shown}.`;
}

function invalidDetail(errors: readonly ExpectedProblem[]): string {
  return errors.length === 1 ? (errors[0]?.message ?? "") : `${errors.length} problems. Nothing was stored.`;
}

/** Several products of a bulk import have one id or sku, which is a problem of the first of them. */
export function duplicate(
  field: "id" | "sku",
  value: string,
  { first, last }: { readonly first: number; readonly last: number },
): ExpectedProblem {
  const places = `first at products[${first}] and last at products[${last}]`;
  const message = `${field} "${value}" appears in more than one product of this import, ${places}.`;
  return { code: "DUPLICATE", message, path: ["products", first, field] };
}

/** A product of a bulk import has the sku of a product that is stored, and may be in the import too. */
export function conflict(index: number, sku: string, holder: string, other?: number): ExpectedProblem {
  const place = other === undefined ? "" : `, which is at products[${other}]`;
  const message = `sku "${sku}" belongs to the product "${holder}" of the store${place}.`;
  return { code: "CONFLICT", message, path: ["products", index, "sku"] };
}
