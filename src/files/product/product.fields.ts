import type { Prisma, Product } from "../../generated/prisma/client.js";

/** The kinds of fields, with the types of their values. */
interface Values {
  readonly text: string;
  readonly url: string;
  readonly urls: readonly string[];
  readonly price: number;
  readonly flag: boolean;
}

export type FieldKind = keyof Values;

type ColumnOf<Stored> = { [C in keyof Product]: Product[C] extends Stored | null ? C : never }[keyof Product];

interface OfKind<Kind extends FieldKind, Stored> {
  readonly kind: Kind;
  readonly required: boolean;
  /** In the tables Product and StagedProduct. */
  readonly column: ColumnOf<Stored>;
  /** For a long field, which lists read only if it is selected: it costs as much as so many others. */
  readonly cost?: number;
  /** Describes the field in results. */
  readonly description: string;
  /** What an import takes, if its kind and bound do not say everything. */
  readonly accepts?: string;
  /** What a patch takes, if that does not follow from what an import takes. */
  readonly patch?: string;
  readonly example: Values[Kind];
}

export type ProductField =
  | (OfKind<"text", string> & {
      readonly charactersMax: number;
      /** Whether all of its characters must be visible. */
      readonly isVisible?: true;
    })
  | OfKind<"url", string>
  | OfKind<"urls", string[]>
  | OfKind<"price", Prisma.Decimal>
  | OfKind<"flag", boolean>;

/**
 * Every field of a product. Types, validation, statements, files, the GraphQL schema and the OpenAPI document follow from this table.
 * New fields come last: the order is that of exported columns, and of the bits in `StagedProduct.present`.
 */
export const productFields = {
  id: {
    kind: "text",
    charactersMax: 255,
    isVisible: true,
    required: true,
    column: "id",
    description: "Reference id: unique within the store.",
    accepts: "Reference id: at most 255 characters.",
    patch: "Reference id. Without it, sku names the product.",
    example: "linen-shirt",
  },
  sku: {
    kind: "text",
    charactersMax: 255,
    isVisible: true,
    required: true,
    column: "sku",
    description: "Stock keeping unit: unique within the store.",
    accepts: "At most 255 characters; no other product of the store may have it.",
    patch: "With an id: the new sku.",
    example: "VT-1001",
  },
  title: {
    kind: "text",
    charactersMax: 1_000,
    required: true,
    column: "title",
    description: "Name of the product.",
    example: "Linen shirt",
  },
  description: {
    kind: "text",
    charactersMax: 65_535,
    required: false,
    column: "description",
    cost: 2,
    description: "Text about the product; null if it has none.",
    example: "Washed linen, shell buttons.",
  },
  price: {
    kind: "price",
    required: false,
    column: "price",
    description: "In the currency of the shop; null if it has none.",
    example: 59.9,
  },
  price_min: {
    kind: "price",
    required: false,
    column: "priceMin",
    description: "Lowest price of its variants; null if it is not known.",
    accepts: "0 or more; not above price_max.",
    patch: "0 or more, and not above price_max; null clears it.",
    example: 49.9,
  },
  price_max: {
    kind: "price",
    required: false,
    column: "priceMax",
    description: "Highest price of its variants; null if it is not known.",
    example: 69.9,
  },
  available: {
    kind: "flag",
    required: true,
    column: "available",
    description: "Whether it can be bought now.",
    example: true,
  },
  images: {
    kind: "urls",
    required: false,
    column: "images",
    cost: 10, // up to 250 URLs of 2,048 characters
    description: "URLs of its images.",
    patch: "At most 250 URLs, which replace the others; null clears them.",
    example: ["https://shop.example/images/linen-shirt-1.jpg", "https://shop.example/images/linen-shirt-2.jpg"],
  },
  featured_image: {
    kind: "url",
    required: true,
    column: "featuredImage",
    description: "URL of its main image.",
    patch: "A URL; not null.",
    example: "https://shop.example/images/linen-shirt-1.jpg",
  },
  url: {
    kind: "url",
    required: true,
    column: "url",
    description: "URL of its page in the shop.",
    patch: "A URL; not null.",
    example: "https://shop.example/products/linen-shirt",
  },
} as const satisfies Readonly<Record<string, ProductField>>;

type Fields = typeof productFields;
export type FieldName = keyof Fields;
type ValueOf<F extends FieldName> = Values[Fields[F]["kind"]];
type RequiredName = { [F in FieldName]: Fields[F]["required"] extends true ? F : never }[FieldName];

/** A product as it is imported. */
export type ProductInput = { readonly [F in RequiredName]: ValueOf<F> } & {
  readonly [F in Exclude<FieldName, RequiredName>]?: ValueOf<F> | null | undefined;
};

/** Changes the product with its id or else its sku. Missing fields keep their values. */
export type ProductPatch = Partial<ProductInput>;

export const productFieldNames = Object.keys(productFields) as readonly FieldName[];

export function mapFields<Value>(
  of: (field: ProductField, name: FieldName) => Value,
): Readonly<Record<FieldName, Value>> {
  const entries = productFieldNames.map((name) => [name, of(productFields[name], name)]);
  return Object.fromEntries(entries) as Record<FieldName, Value>; // productFieldNames holds all
}

/** A product of the demo store, with all fields. */
export const exampleProduct = mapFields(({ example }) => example) as ProductInput; // test/catalog/fields.test.ts checks that it is valid

/** Each field as a bit, for sets of fields. */
export const fieldBits = mapFields((_, name) => 1 << productFieldNames.indexOf(name));

export const requiredBits = productFieldNames
  .filter((name) => productFields[name].required)
  .reduce((bits, name) => bits | fieldBits[name], 0);
