import type { GraphQLNamedType } from "graphql";
import type { ExportRoute } from "../rest/exports/export.routes.js";
import type { RestRoute } from "../rest/routes/route.js";
import { csvExample, momentsCsvExample, ndjsonExample, showsCsvExample } from "../rest/routes/exampleData.js";
import type { ExampleOfProblem } from "./answers/problems.js";
import { describeResponses } from "./answers/responses.js";
import type { ApiLimits, JsonSchema, JsonSchemas } from "./types.js";
import { formatNames } from "../../files/formats/options.js";
import type { RestOperation } from "../rest/routes/derivation.js";
import { parameterConstraints } from "./constraints.js";
import { parameterSchema } from "./schemas.js";

const text: JsonSchema = { type: "string" };

export const fileSchemas: JsonSchemas = {
  FileFormat: { type: "string", description: "The layout of a file of products.", enum: formatNames },
};

/** Options of how a file is read, in the order in which routes name them. */
const readingOptions: Readonly<Record<string, readonly [schema: JsonSchema, description: string]>> = {
  format: [
    { $ref: "#/components/schemas/FileFormat" },
    "The system that wrote the file; `auto` recognizes it by its columns. The answer then has `format` and `notes`.",
  ],
  urlTemplate: [
    text,
    "Builds URLs from columns in braces, such as `https://shop.example/products/{handle}`. Needed for Shopify, WooCommerce and Magento.",
  ],
  delimiter: [text, "`comma`, `semicolon` or `tab`. By default as in the header."],
  map: [
    { type: "array", items: text },
    "`field:column`, once for each field: `map=title:Name`. A column of images may be given several times.",
  ],
  default: [{ type: "array", items: text }, "`field:value` for rows without a value: `default=available:true`."],
  fillDown: [
    text,
    "With mapped columns: rows with the same value in this column inherit empty cells from the first of them.",
  ],
  encoding: [text, "Such as `windows-1252`. By default, the byte order mark decides, otherwise UTF-8."],
};

interface ExportDescription {
  readonly tag: RestRoute["tag"];
  readonly description: string;
  readonly answer: string;
  readonly example: string;
  readonly parameters: readonly object[];
  readonly errors: RestRoute["errors"];
}

const productParameters = [
  queryParameter(
    "available",
    { type: "boolean" },
    "Only products that can be bought now (true), or that cannot (false).",
  ),
  queryParameter(
    "updatedSince",
    { type: "string", format: "date-time" },
    "Only products that were stored at this time or later: an ISO 8601 timestamp with a time zone.",
  ),
  queryParameter(
    "siteId",
    { type: "string", default: "" },
    "Only products that are sold on this site of the store.",
    true,
  ),
  queryParameter("siteType", { type: "string", default: "" }, "The type that the site must have.", true),
];

const products = {
  tag: "Products",
  description: "A consistent snapshot of all products of the store, in the order of their ids, in constant memory.",
  parameters: productParameters,
  errors: ["VALIDATION_FAILED", "SITE_NOT_FOUND"],
} as const;

const moment = (name: string, description: string, example: string) => ({
  ...queryParameter(name, { type: "string", format: "date-time" }, description),
  required: true,
  example,
});

const figures = {
  tag: "Analytics",
  parameters: [
    moment("from", "Shows that started at this time or later.", "2026-01-01T00:00:00Z"),
    moment("until", "Shows that started before this time, at most 5 years after `from`.", "2027-01-01T00:00:00Z"),
    queryParameter(
      "bom",
      { type: "boolean", default: false },
      "Whether the file begins with a byte order mark, for Excel.",
    ),
    queryParameter(
      "delimiter",
      { type: "string", default: "," },
      "`comma` or `semicolon`, or the character itself. With semicolons, numbers have a decimal comma.",
    ),
  ],
  errors: ["VALIDATION_FAILED", "RATE_LIMITED"],
} as const;

const descriptions: Readonly<Record<string, ExportDescription>> = {
  exportProducts: {
    ...products,
    answer: "A JSON object on each line, with the fields of ProductInput. The import of NDJSON reads this.",
    example: ndjsonExample,
  },
  exportProductsCsv: {
    ...products,
    answer: "A header row, then a row for each product. The import of CSV reads this.",
    example: csvExample,
  },
  exportLiveStreamAnalyticsCsv: {
    ...figures,
    description:
      "A row of KPIs for each show that started in the given range, in the order of their start, in constant memory. Counts as one analytics read. Later versions may add columns at the end.",
    answer: "A header row, then a row for each show. Amounts are in the currency of the store, shares in percent.",
    example: showsCsvExample,
  },
  exportMomentsCsv: {
    ...figures,
    description:
      "A row of figures for each moment of the shows that started in the given range, in the order of the shows and of their start, in constant memory. Counts as one analytics read. Later versions may add columns at the end.",
    answer: "A header row, then a row for each moment. Cells are empty where nothing is known.",
    example: momentsCsvExample,
  },
};

export function describeExport(exported: ExportRoute, limits: ApiLimits, exampleOf: ExampleOfProblem): object {
  const { operationId, summary, path, mediaType } = exported;
  const own = descriptions[operationId];
  if (own === undefined) throw new Error(`${operationId} has no description.`);
  const route: RestRoute = {
    root: "Query",
    operation: operationId,
    operationId,
    method: "GET",
    path,
    summary,
    tag: own.tag,
    errors: own.errors,
    example: { answer: undefined }, // its answer is no JSON
  };
  const hasDeprecated = own.parameters.some((parameter) => "deprecated" in parameter);
  const success = { schema: {}, content: own.answer, hasDeprecated };
  const { 304: _, 200: described, ...refusals } = describeResponses(route, success, limits, exampleOf);
  const { ETag: __, ...headers } = described.headers as Record<string, unknown>;
  const [contentType = mediaType] = mediaType.split(";");
  return {
    operationId,
    summary,
    description: own.description,
    tags: [route.tag],
    parameters: own.parameters,
    responses: {
      200: {
        ...described,
        headers,
        content: { [contentType]: { schema: { type: "string" }, example: own.example } },
      },
      ...refusals,
    },
  };
}

/** An optional parameter of the query string. */
function queryParameter(name: string, schema: JsonSchema, description: string, isDeprecated = false) {
  return {
    name,
    in: "query",
    required: false,
    description,
    ...(isDeprecated && { deprecated: true }),
    schema,
  };
}

/**
 * The parameters for a body that is a file. They have no examples and, except sites, no defaults: tools fill these in, and would send
 * them with a JSON body, which already contains the arguments.
 */
export function fileParameters(
  { upload, parameters }: RestOperation,
  ofNamed: (type: GraphQLNamedType) => JsonSchema,
): object[] {
  if (upload === undefined) return [];
  const ofArguments = [...parameters]
    .filter(([name]) => name !== upload.argument)
    .map(([name, { type, description, deprecationReason }]) =>
      queryParameter(
        name,
        { ...parameterSchema(type, ofNamed), ...parameterConstraints[name] },
        `${description ?? ""} Only with a file.`.trim(),
        Boolean(deprecationReason),
      ),
    );
  const ofReading = (upload.readingOptions ?? []).map((name) => {
    const [schema, description] = readingOptions[name] ?? [text, ""];
    return queryParameter(name, schema, `${description} Only with a file.`);
  });
  return [...ofArguments, ...ofReading];
}
