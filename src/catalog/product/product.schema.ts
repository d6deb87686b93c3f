import { builder, noteSiteUse } from "../../schema/builder.js";
import type { Context } from "../../schema/context.js";
import { rateLimited } from "../../schema/limits/rateLimit.js";
import { selectsOnly } from "../../schema/selection.js";
import { importCsv, importNdjson } from "../import/entryPoints/fileProducts.js";
import { parseFileParameters } from "../../files/formats/options.js";
import { importSentProducts } from "../import/entryPoints/jsonProducts.js";
import {
  asSent,
  csvAsSent,
  importArgs,
  importOptions,
  modeArgs,
  observed,
  ProductImport,
  refusePatch,
} from "../import/import.schema.js";
import { deleteProduct, findProduct, type ProductDeletion as ProductDeletionValue } from "./product.lookup.js";
import { briefFields, type StoredProduct } from "./product.sql.js";
import { exampleProduct, mapFields, type ProductField } from "../../files/product/product.fields.js";
import { imagesMax } from "../../files/product/product.rules.js";

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

/** Placeholders for unparsed values are valid; see api/execution/input/rawInputs.ts. */
const ProductInput = builder.inputType("ProductInput", {
  description: "A product to import. An import replaces the whole product: an optional field left out becomes empty.",
  extensions: { placeholderValue: (placeholder: string) => ({ ...exampleProduct, id: placeholder }) },
  fields: (t) =>
    mapFields((field) =>
      t.field({ type: inputTypes[field.kind], required: field.required, description: acceptedBy(field) }),
    ),
});

const ProductPatchInput = builder.inputType("ProductPatchInput", {
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

/** A field for the product that figures name by id. */
export const productOfCatalog = {
  extensions: { scope: "catalog:read" },
  type: Product,
  nullable: true,
  description: "Null if the product is not in the catalog.",
} as const;

const ProductDeletion = builder.objectRef<ProductDeletionValue>("ProductDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Reference id of the deleted product, so that caches can evict it." }),
    message: t.exposeString("message", { description: "What was done, in a sentence for people." }),
  }),
});

const siteArgs = builder.args((t) => ({
  siteId: t.string({
    required: false,
    description: "Names a site of the store.",
    deprecationReason: "Products belong to the store; omit the site.",
  }),
  siteType: t.string({
    required: false,
    description: "The type that the site must have.",
    deprecationReason: "Products belong to the store; omit the site.",
  }),
}));
/** The arguments of imports besides the products. */
const optionArgs = { ...siteArgs, ...modeArgs, ...importArgs };
const selectsBriefFields = selectsOnly(new Set([...briefFields, "__typename"]));
const productId = { description: "Reference id, or else SKU, of a product." };

builder.queryFields((t) => ({
  product: t.field({
    extensions: { scope: "catalog:read" },
    type: Product,
    nullable: true,
    description: "One product, by its reference id or SKU.",
    args: { productId: t.arg.string(productId), ...siteArgs },
    resolve: rateLimited("product", (_, args, context, info) => {
      noteSiteUse(args, context);
      return findProduct(context.db, context.identity.storeId, args.productId, args, {
        isBrief: selectsBriefFields(info),
      });
    }),
  }),
}));

/** Options of a CSV file sent as the body. @throws {AppError} BAD_REQUEST for options that cannot be read */
function fileOptions({ sent: { uploadOptions } }: Context) {
  return { pathPrefix: [], isFile: true, ...(uploadOptions && { fileFormat: parseFileParameters(uploadOptions) }) };
}

builder.mutationFields((t) => ({
  importProduct: t.field({
    extensions: { scope: "catalog:write", takesAsSent: "product" },
    type: ProductImport,
    nullable: true,
    description: "Imports or modifies one product.",
    args: { product: t.arg({ type: ProductInput, description: "The whole product." }), ...optionArgs },
    resolve: rateLimited("product", (_, { product, ...args }, context, info) => {
      refusePatch(args, context);
      const { db, identity } = context;
      const options = { ...importOptions(args, context, info), path: ["product"], isListExpected: false };
      return observed(args, context, () => importSentProducts(db, identity.storeId, asSent(product, context), options));
    }),
  }),
  importProducts: t.field({
    extensions: { scope: "catalog:write", takesAsSent: "products" },
    type: ProductImport,
    nullable: true,
    description: "Imports or modifies a list of products: all or none of them, unless errorPolicy is REJECT_FAILED.",
    args: { products: t.arg({ type: [ProductInput], description: "Whole products, each once." }), ...optionArgs },
    resolve: rateLimited("product", (_, { products: list, ...args }, context, info) => {
      refusePatch(args, context);
      return observed(args, context, () => {
        const { db, identity, limits } = context;
        const { upload } = context.sent;
        const options = importOptions(args, context, info);
        const preview = args.dryRun === true;
        if (upload !== undefined) return importNdjson(db, identity.storeId, upload, { ...options, preview });
        const sent = { ...options, path: ["products"], isListExpected: true, productsMax: limits.bulkProductsMax };
        return importSentProducts(db, identity.storeId, asSent(list, context), sent);
      });
    }),
  }),
}));

builder.mutationFields((t) => ({
  importProductsCsv: t.field({
    extensions: { scope: "catalog:write", takesAsSent: "csvContent" },
    type: ProductImport,
    nullable: true,
    description:
      "Imports or modifies products given as CSV text: all or none of them, unless errorPolicy is REJECT_FAILED.",
    args: { csvContent: t.arg.string({ description: "A header row, then a row for each product." }), ...optionArgs },
    resolve: rateLimited("product", (_, { csvContent, ...args }, context, info) => {
      const { db, identity, limits } = context;
      const { upload } = context.sent;
      const productsMax = limits.bulkProductsMax;
      const options = importOptions(args, context, info);
      const preview = args.dryRun === true;
      return observed(args, context, () =>
        upload === undefined
          ? importCsv(db, identity.storeId, csvAsSent(csvContent, context), { ...options, productsMax })
          : importCsv(db, identity.storeId, upload, { ...options, ...fileOptions(context), preview }),
      );
    }),
  }),
}));

builder.mutationField("deleteProduct", (t) =>
  t.field({
    extensions: { scope: "catalog:write" },
    type: ProductDeletion,
    nullable: true,
    description: "Deletes one product, by its reference id or SKU.",
    args: { productId: t.arg.string(productId), ...siteArgs },
    resolve: rateLimited("product", (_, args, context) => {
      noteSiteUse(args, context);
      return deleteProduct(context.db, context.identity.storeId, args.productId, args, context.sent.requireState);
    }),
  }),
);

builder.mutationField("patchProducts", (t) =>
  t.field({
    extensions: { scope: "catalog:write", takesAsSent: "products" },
    type: ProductImport,
    nullable: true,
    description:
      "Changes the given fields of products. A missing product fails, or is created if all required fields are given.",
    args: {
      products: t.arg({ type: [ProductPatchInput], description: "The changes; each product once." }),
      ...siteArgs,
      ...importArgs,
    },
    resolve: rateLimited("product", (_, { products: list, ...args }, context, info) =>
      observed(args, context, () =>
        importSentProducts(context.db, context.identity.storeId, asSent(list, context), {
          ...importOptions({ ...args, mode: "PATCH" }, context, info),
          path: ["products"],
          isListExpected: true,
          productsMax: context.limits.bulkProductsMax,
        }),
      ),
    ),
  }),
);

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
