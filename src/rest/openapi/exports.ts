import type { ExportRoute } from "../exports.js";
import type { RestRoute } from "../routes.js";
import { csvExample, ndjsonExample } from "./exampleData.js";
import type { Examples } from "./examples.js";
import { describeResponses } from "./responses.js";
import { queryParameter as query } from "./parameters.js";
import type { ApiLimits } from "./types.js";

const examplesByFormat: Readonly<Record<ExportRoute["format"], string>> = {
  csv: csvExample,
  ndjson: ndjsonExample,
};

const answers: Readonly<Record<ExportRoute["format"], string>> = {
  csv: "A header row, then a row for each product: what the import from CSV takes.",
  ndjson: "A JSON object on each line, with the fields of ProductInput: what the import of NDJSON takes.",
};

const parameters = [
  query("available", { type: "boolean" }, "Only products that can, or cannot, be bought now."),
  query(
    "updatedSince",
    { type: "string", format: "date-time" },
    "Only products that were stored at this time or later: an ISO 8601 timestamp with a time zone.",
  ),
  query("siteId", { type: "string", default: "" }, "Only products that are sold on this site of the store.", true),
  query("siteType", { type: "string", default: "" }, "The type that the site must have.", true),
];

/** The operation of a path that answers with a whole catalog. */
export function describeExport(exported: ExportRoute, limits: ApiLimits, examples: Examples): object {
  const { format, operationId, summary, path, mediaType } = exported;
  const route: RestRoute = {
    root: "Query",
    operation: operationId,
    operationId,
    method: "GET",
    path,
    summary,
    tag: "Products",
    errors: ["VALIDATION_FAILED", "SITE_NOT_FOUND"],
  };
  const success = { schema: {}, description: answers[format] };
  const { 304: _, 200: described, ...refusals } = describeResponses(route, success, limits, examples);
  const { ETag: __, ...headers } = described.headers as Record<string, unknown>;
  const [contentType = mediaType] = mediaType.split(";");
  return {
    operationId,
    summary,
    description:
      "All products of the store in the order of their ids, of one moment, in constant memory. The product whose reference id is `bulk` is read by its SKU or over GraphQL.",
    tags: [route.tag],
    parameters,
    responses: {
      200: {
        ...described,
        headers,
        content: { [contentType]: { schema: { type: "string" }, example: examplesByFormat[format] } },
      },
      ...refusals,
    },
  };
}
