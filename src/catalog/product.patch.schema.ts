import { builder } from "../schema/builder.js";
import { rateLimited } from "../schema/limits/rateLimit.js";
import {
  asSent,
  importArgs,
  importOptions,
  observed,
  placeholderPatch,
  ProductImport,
} from "./import/import.schema.js";
import { importSentProducts } from "./import/ways/sent.js";
import { siteArgs } from "./product.schema.js";

const ProductPatchInput = builder.inputType("ProductPatchInput", {
  description:
    "A partial update of the product with this id or, without an id, this sku. Omitted fields keep their values.",
  extensions: { placeholderValue: placeholderPatch },
  fields: (t) => ({
    id: t.string({ required: false, description: "Reference id. Without it, sku names the product." }),
    sku: t.string({ required: false, description: "With an id: the new sku." }),
    title: t.string({ required: false, description: "At most 1,000 characters; not null." }),
    description: t.string({ required: false, description: "At most 65,535 characters; null clears it." }),
    price: t.float({ required: false, description: "0 or more; null clears it." }),
    price_min: t.float({ required: false, description: "0 or more, and not above price_max; null clears it." }),
    price_max: t.float({ required: false, description: "0 or more; null clears it." }),
    available: t.boolean({ required: false, description: "Whether it can be bought now; not null." }),
    images: t.stringList({
      required: false,
      description: "At most 250 URLs, which replace the others; null clears them.",
    }),
    featured_image: t.string({ required: false, description: "A URL; not null." }),
    url: t.string({ required: false, description: "A URL; not null." }),
  }),
});

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
