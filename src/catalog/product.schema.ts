import { builder } from "../schema/builder.js";
import type { Context } from "../schema/context.js";
import { noteSiteUse } from "../schema/deprecation.js";
import { rateLimited } from "../schema/limits/rateLimit.js";
import { selectsOnly } from "../schema/selection.js";
import { importCsv } from "./import/ways/csv.js";
import { parseFormatOptions } from "./formats/options.js";
import { importNdjson } from "./import/ways/ndjson.js";
import { importSentProducts } from "./import/ways/sent.js";
import {
  asSent,
  csvAsSent,
  importArgs,
  importOptions,
  modeArgs,
  observed,
  ProductImport,
  placeholderProduct,
  refusePatch,
} from "./import/import.schema.js";
import { deleteProduct, findProduct, type ProductDeletion as ProductDeletionValue } from "./product.lookup.js";
import { briefFields, type StoredProduct } from "./product.sql.js";

export const Product = builder.objectRef<StoredProduct>("Product").implement({
  description: "A product of the store's catalog.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Reference id: unique within the store." }),
    sku: t.exposeString("sku", { description: "Stock keeping unit: unique within the store." }),
    title: t.exposeString("title", { description: "Name of the product." }),
    description: t.exposeString("description", {
      nullable: true,
      description: "Text about the product; null if it has none.",
      extensions: { cost: 2, isLong: true },
    }),
    price: t.float({
      nullable: true,
      description: "In the currency of the shop; null if it has none.",
      resolve: ({ price }) => price?.toNumber() ?? null,
    }),
    price_min: t.float({
      nullable: true,
      description: "Lowest price of its variants; null if it is not known.",
      resolve: ({ priceMin }) => priceMin?.toNumber() ?? null,
    }),
    price_max: t.float({
      nullable: true,
      description: "Highest price of its variants; null if it is not known.",
      resolve: ({ priceMax }) => priceMax?.toNumber() ?? null,
    }),
    available: t.exposeBoolean("available", { description: "Whether it can be bought now." }),
    images: t.exposeStringList("images", {
      description: "URLs of its images.",
      extensions: { cost: 10, isLong: true }, // up to 250 URLs of 2,048 characters
    }),
    featured_image: t.exposeString("featuredImage", { description: "URL of its main image." }),
    url: t.exposeString("url", { description: "URL of its page in the shop." }),
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

/** A field for the product that figures name by its id. */
export const productOfCatalog = {
  extensions: { scope: "catalog:read" },
  type: Product,
  nullable: true,
  description: "Null if the product is not in the catalog.",
} as const;

const ProductInput = builder.inputType("ProductInput", {
  description: "A product to import. An import replaces the whole product: an optional field left out becomes empty.",
  extensions: { placeholderValue: placeholderProduct },
  fields: (t) => ({
    id: t.string({ description: "Reference id: at most 255 characters." }),
    sku: t.string({ description: "At most 255 characters; no other product of the store may have it." }),
    title: t.string({ description: "At most 1,000 characters." }),
    description: t.string({ required: false, description: "At most 65,535 characters." }),
    price: t.float({ required: false, description: "0 or more." }),
    price_min: t.float({ required: false, description: "0 or more; not above price_max." }),
    price_max: t.float({ required: false, description: "0 or more." }),
    available: t.boolean({ description: "Whether it can be bought now." }),
    images: t.stringList({ required: false, description: "At most 250 http, https or protocol-relative URLs." }),
    featured_image: t.string({ description: "An http, https or protocol-relative URL." }),
    url: t.string({ description: "An http, https or protocol-relative URL." }),
  }),
});

const ProductDeletion = builder.objectRef<ProductDeletionValue>("ProductDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Reference id of the product that is gone, for caches to evict it." }),
    message: t.exposeString("message", { description: "What was done, in a sentence for people." }),
  }),
});

export const siteArgs = builder.args((t) => ({
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
/** The arguments of imports beside what is imported. */
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

/** Options of a CSV file that is the body. @throws {AppError} BAD_REQUEST for options that cannot be read */
function fileOptions({ sent: { uploadOptions } }: Context) {
  return { pathPrefix: [], ...(uploadOptions && { fileFormat: parseFormatOptions(uploadOptions) }) };
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
      return deleteProduct(context.db, context.identity.storeId, args.productId, args);
    }),
  }),
);
