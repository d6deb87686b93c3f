import { rateLimitHeaders } from "../../../schema/limits/policies.js";
import { exampleRequestId, exampleReservation } from "./problems.js";
import type { JsonSchema } from "../types.js";
import { type RestRoute, takesCondition, takesKey } from "../../rest/routes/route.js";

const text: JsonSchema = { type: "string" };
const exampleTag = 'W/"9hXNCUbsKkNZRdrGHy9X2g"';

const entityTagHeader = {
  description: "Identifies this state of the resource (RFC 9110, section 8.8.3): it changes whenever the answer does.",
  schema: text,
  example: exampleTag,
};

/** The answer if the condition matches. @param headers those of the 200 */
export function notModified(headers: object): object {
  return { description: "The caller already has this answer. There is no body.", headers };
}

const condition =
  "The optional header `If-None-Match` holds ETags of answers that the caller has, separated by commas, or `*`. If the answer has one of them, the status is 304.";

const writeCondition =
  "With the optional header `If-Match`, the call is executed only if GET of the same path would answer with one of these ETags, or at all for `*`; with `If-None-Match`, only if it would not. Otherwise the status is 412.";

const idempotencyKey =
  "The optional header `Idempotency-Key` makes it safe to send a call again (IETF draft-ietf-httpapi-idempotency-key-header). It is a unique id that the caller chooses for this call, such as a UUID, of 1 to 255 visible ASCII characters. A call that succeeded is not executed again: for 24 hours, the same body with the same key gets the same answer, with the header Idempotency-Replayed. A call that was refused stored nothing: correct it and send it with the same key. Keys belong to their store.";

const fileBody =
  "With a Content-Type other than application/json, the body is a file of any number of products. The other arguments are then in the query string, and problems name their line. With JSON, such parameters are refused.";

/**
 * Describes the optional headers of a route, and its bodies, as text. If they were parameters, Postman and Swagger UI would fill them in,
 * and a second import with the same key would be refused.
 */
export function requestHeaders(route: RestRoute): string[] {
  return [
    ...(route.method === "GET" ? [condition] : []),
    ...(takesCondition(route) ? [writeCondition] : []),
    ...(takesKey(route) ? [idempotencyKey] : []),
    ...(route.upload === undefined ? [] : [fileBody]),
  ];
}

const idempotencyReplayedHeader = {
  description:
    "`true` if this is the stored answer to an earlier call with the same Idempotency-Key. Otherwise absent.",
  required: false,
  schema: { ...text, enum: ["true"] },
  example: "true",
};

const rateLimitExamples = rateLimitHeaders([exampleReservation]);

/** The headers that answers may have, by their names in the document's components. */
export const responseHeaders = {
  RequestId: {
    description: "Identifies this request in the service's log: the X-Request-Id that the caller sent, or a new one.",
    schema: text,
    example: exampleRequestId,
  },
  EntityTag: entityTagHeader,
  IdempotencyReplayed: idempotencyReplayedHeader,
  Allow: {
    description: "The methods of the path.",
    schema: text,
    example: "DELETE, GET, HEAD",
  },
  RetryAfter: {
    description: "Seconds after which to try again.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  Authenticate: {
    description: "How to authenticate.",
    schema: text,
    example: 'ApiKey header="X-Service-Access-Token"',
  },
  RateLimit: {
    description:
      "Remaining calls of the store (r) and seconds until all are available again (t), by policy (IETF draft).",
    schema: text,
    example: rateLimitExamples.RateLimit,
  },
  RateLimitPolicy: {
    description: "Calls of a store (q) in a window of this many seconds (w), by policy (IETF draft).",
    schema: text,
    example: rateLimitExamples["RateLimit-Policy"],
  },
  Deprecation: {
    description: "When siteId and siteType became deprecated (RFC 9745), if the call uses one. Otherwise absent.",
    required: false,
    schema: text,
    example: "@1795219200",
  },
  Link: {
    description: 'The documentation, with rel="deprecation", if there is a Deprecation. Otherwise absent.',
    required: false,
    schema: text,
    example: '<../../../docs>; rel="deprecation"; type="text/html"',
  },
} as const;
