import type { GraphQLNamedType } from "graphql";
import { formatNames } from "../../catalog/sources/formats/options.js";
import type { RestOperation } from "../routes/derivation.js";
import { parameterConstraints } from "./constraints.js";
import { parameterSchema } from "./schemas.js";
import type { JsonSchema, JsonSchemas } from "./types.js";

/** A parameter of the query string, which may be left out. */
export function queryParameter(name: string, schema: JsonSchema, description: string, isDeprecated = false) {
  return {
    name,
    in: "query",
    required: false,
    description,
    ...(isDeprecated && { deprecated: true }),
    schema,
  };
}

const text: JsonSchema = { type: "string" };

export const fileSchemas: JsonSchemas = {
  FileFormat: { type: "string", description: "The layout of a file of products.", enum: formatNames },
};

/** How a file is read, in the order in which routes name it. */
const readingOptions: Readonly<Record<string, readonly [schema: JsonSchema, description: string]>> = {
  format: [
    { $ref: "#/components/schemas/FileFormat" },
    "The system that wrote the file; `auto` recognizes it by its columns. The answer then has `format` and `notes`.",
  ],
  urlTemplate: [
    text,
    "How URLs are made of columns in braces, such as `https://shop.example/products/{handle}`. Shopify, WooCommerce and Magento need it.",
  ],
  delimiter: [text, "`comma`, `semicolon` or `tab`. By default it is found in the header."],
  map: [
    { type: "array", items: text },
    "`field:column`, once for each field: `map=title:Name`. A column of images may be given several times.",
  ],
  default: [{ type: "array", items: text }, "`field:value` for rows without a value: `default=available:true`."],
  fillDown: [
    text,
    "With mapped columns: rows that share this column have what the first of them has, where they lack it.",
  ],
  encoding: [text, "Such as `windows-1252`. By default the file is UTF-8, or what its byte order mark says."],
};

/**
 * The parameters that accompany a body which is a file. None has an example or, sites aside, a default, so that tools which fill in
 * parameters send none of them with the body in JSON, which has the arguments itself.
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
        `${description ?? ""} Beside a file only.`.trim(),
        Boolean(deprecationReason),
      ),
    );
  const ofReading = (upload.readingOptions ?? []).map((name) => {
    const [schema, description] = readingOptions[name] ?? [text, ""];
    return queryParameter(name, schema, `${description} Beside a file only.`);
  });
  return [...ofArguments, ...ofReading];
}
