import { builder, noteSiteUse } from "../../schema/builder.js";
import type { Context } from "../../schema/context.js";
import { rateLimited } from "../../schema/limits/rateLimit.js";
import { selectsOnly } from "../../schema/selection.js";
import { importCsv, importNdjson } from "../import/ways/text.js";
import { parseFileParameters } from "../sources/formats/options.js";
import { importSentProducts } from "../import/ways/sent.js";
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
import { briefFields } from "./product.sql.js";
import { Product, ProductInput, ProductPatchInput } from "./product.types.schema.js";

/** A field for the product that figures name by its id. */
export const productOfCatalog = {
  extensions: { scope: "catalog:read" },
  type: Product,
  nullable: true,
  description: "Null if the product is not in the catalog.",
} as const;

const ProductDeletion = builder.objectRef<ProductDeletionValue>("ProductDeletion").implement({
  description: "Confirms a deletion.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Reference id of the product that is gone, for caches to evict it." }),
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
/** The arguments of imports, besides what is imported. */
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
      products: t.arg({ type: [ProductPatchInput], description: "What changes; each product once." }),
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
