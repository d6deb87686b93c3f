import { builder } from "../../schema/builder.js";
import { exampleProduct, mapFields, type ProductField } from "./product.fields.js";
import { imagesMax } from "./product.rules.js";
import type { StoredProduct } from "./product.sql.js";

export const Product = builder.objectRef<StoredProduct>("Product").implement({
  description: "A product of the store's catalog.",
  fields: (t) => ({
    ...mapFields((field, name) => {
      const { description, required, cost } = field;
      const options = {
        description,
        nullable: !required as true,
        extensions: cost === undefined ? {} : { cost, isLong: true },
      };
      switch (field.kind) {
        case "urls":
          return t.exposeStringList(field.column, { ...options, nullable: false });
        case "price":
          return t.float({ ...options, resolve: (product) => product[field.column]?.toNumber() ?? null });
        case "flag":
          return t.exposeBoolean(field.column, options);
        default:
          return name === "id" ? t.exposeID("id", options) : t.exposeString(field.column, options);
      }
    }),
    createdAt: t.field({
      type: "DateTime",
      description: "When it was first imported.",
      resolve: ({ createdAt }) => createdAt,
    }),
    updatedAt: t.field({
      type: "DateTime",
      description: "When it was last imported.",
      resolve: ({ updatedAt }) => updatedAt,
    }),
  }),
});

const inputTypes = {
  text: "String",
  url: "String",
  urls: ["String"] as ["String"],
  price: "Float",
  flag: "Boolean",
} as const;

/** Placeholders are valid, in place of unparsed values; see execution/input/originals.ts. */
export const ProductInput = builder.inputType("ProductInput", {
  description: "A product to import. An import replaces the whole product: an optional field left out becomes empty.",
  extensions: { placeholderValue: (placeholder: string) => ({ ...exampleProduct, id: placeholder }) },
  fields: (t) =>
    mapFields((field) =>
      t.field({ type: inputTypes[field.kind], required: field.required, description: acceptedBy(field) }),
    ),
});

export const ProductPatchInput = builder.inputType("ProductPatchInput", {
  description:
    "A partial update of the product with this id or, without an id, this sku. Omitted fields keep their values.",
  extensions: { placeholderValue: (placeholder: string) => ({ id: placeholder }) },
  fields: (t) =>
    mapFields((field) => {
      const cleared = field.required ? "not null" : "null clears it";
      const description = field.patch ?? acceptedBy(field).replace(/\.$/u, `; ${cleared}.`);
      return t.field({ type: inputTypes[field.kind], required: false, description });
    }),
});

/** What an import takes. */
function acceptedBy(field: ProductField): string {
  if (field.accepts !== undefined) return field.accepts;
  if (field.kind === "text") return `At most ${field.charactersMax.toLocaleString("en")} characters.`;
  return {
    url: "An http, https or protocol-relative URL.",
    urls: `At most ${imagesMax} http, https or protocol-relative URLs.`,
    price: "0 or more.",
    flag: field.description,
  }[field.kind];
}
