import { searchCharactersMax } from "../../catalog/product/search/product.searchIndex.js";
import { recordCharactersMax } from "../../files/csv/records.js";
import { type FieldKind, mapFields, productFieldNames, productFields } from "../../files/product/product.fields.js";
import { imagesMax, priceMin, urlCharactersMax } from "../../files/product/product.rules.js";
import { previewProducts } from "../../files/csv/csv.js";
import type { ApiLimits, JsonSchema, JsonSchemas } from "./types.js";

/** A pattern, because the format uri-reference forbids non-ASCII letters, which browsers accept. */
const webUrl = { pattern: "^([Hh][Tt][Tt][Pp][Ss]?:)?//[^\\s|]+$", maxLength: urlCharactersMax };

const constraintsOf: Readonly<Record<Exclude<FieldKind, "text">, JsonSchema>> = {
  url: webUrl,
  urls: { maxItems: imagesMax, items: { type: "string", ...webUrl } },
  price: { minimum: priceMin },
  flag: {},
};

const productConstraints = mapFields((field) =>
  field.kind === "text"
    ? { ...(field.required && { pattern: "\\S" }), maxLength: field.charactersMax }
    : constraintsOf[field.kind],
);

/** Constraints of input fields beyond their GraphQL types, by input type and field. */
export const fieldConstraints: Readonly<Record<string, JsonSchemas>> = { ProductInput: productConstraints };

/** Members of an answer that are not fields of its type: how a file was read. */
export const addedFields: Readonly<Record<string, JsonSchemas>> = {
  ProductImport: {
    format: {
      type: "string",
      description: "The layout of the file. Present if the file was sent with options of how to read it.",
    },
    notes: {
      type: "array",
      items: { type: "string" },
      description: "Columns of the file that are not stored, and how the others were read. Present beside `format`.",
    },
    skipped: {
      type: "integer",
      description:
        "Rows of the file that are not products themselves; `notes` names them. Together with `imported` and `failed`, this counts all rows.",
    },
    columns: {
      type: "object",
      additionalProperties: { type: "string" },
      description:
        "For each column that is used: the field that it fills, or on which it has an effect. Only in a dry run.",
    },
    products: {
      type: "array",
      items: { type: "object" },
      maxItems: previewProducts,
      description: "The first products as they would be stored. Only in a dry run of a file.",
    },
  },
};

/** Constraints of parameters beyond their GraphQL types. */
export const parameterConstraints: JsonSchemas = {
  // An empty site counts as not given. Without this default, Postman sends an invented site, and the call is refused.
  siteId: { default: "" },
  siteType: { default: "" },
  first: { minimum: 0 }, // its maximum is an extension of the argument
  search: { maxLength: searchCharactersMax },
  maxDeletions: { minimum: 0 },
  bucketSeconds: { minimum: 60, maximum: 86_400, multipleOf: 60 },
};

/**
 * How the members of an import's body depend on its mode: only REPLACE takes maxDeletions, and products of PATCH may have any of
 * their fields.
 */
export const importModes: readonly ImportModeBody[] = [
  { mode: { type: ["string", "null"], enum: ["UPSERT", null] }, omitted: ["maxDeletions"] },
  { mode: { type: "string", enum: ["REPLACE"] } },
  { mode: { type: "string", enum: ["PATCH"] }, omitted: ["maxDeletions"], isPartial: true },
];

interface ImportModeBody {
  /** If its type excludes null, the body must contain the mode. */
  readonly mode: JsonSchema;
  readonly omitted?: readonly string[];
  readonly isPartial?: boolean;
}

export const partialProduct =
  "The fields of a product to change. Fields that are left out keep their values, and null clears an optional one. The product is found by its id or, without one, its sku.";

/** Constraints of a body's members beyond their GraphQL types. */
export function argumentConstraints({ bulkProductsMax }: Pick<ApiLimits, "bulkProductsMax">): JsonSchemas {
  return {
    maxDeletions: { minimum: 0 },
    products: { description: "The products to import.", maxItems: bulkProductsMax },
    csvContent: { minLength: 1, description: csvRules(bulkProductsMax) },
  };
}

function csvRules(rowsMax: number): string {
  const optional = productFieldNames.filter((name) => !productFields[name].required);
  return `Products as CSV text.

1. The first row is a header with the names ${productFieldNames.join(", ")}, in upper or lower case, in any order, separated by commas, semicolons or tabs, as are the cells of all rows. The columns ${optional.join(", ")} may be left out.
2. Each following row is one product; its fields must be as in ProductInput. An empty cell of an optional column is an empty field.
3. images: one URL, or a JSON array of URLs.
4. available: true or false.
5. A field with separators, quotes or line breaks is enclosed in double quotes, and its own quotes are doubled.
6. Rows end with a newline. Blank rows are skipped.

At most ${rowsMax} rows below the header, each of at most ${recordCharactersMax} characters.`;
}
