import type { GraphQLResolveInfo } from "graphql";
import type { Problem } from "../errors.js";
import { builder } from "../graphql/builder.js";
import type { Context } from "../graphql/context.js";
import { type ErrorPolicy, failuresListedMax, rowProblemsMax } from "./product.rowChecks.js";
import type { ImportOptions } from "./product.import.js";
import type { IdempotentRequest } from "./product.import.once.js";
import type { ProductInput } from "./product.input.js";
import type { ImportFailure, ImportResult } from "./product.import.result.js";

const ImportErrorPolicy = builder.enumType("ImportErrorPolicy", {
  description: "What becomes of an import some of whose products fail.",
  values: {
    REJECT_ALL: { description: "None of its products is stored; the answer is an error with every problem." },
    REJECT_FAILED: { description: "All but the failed ones are stored; the answer lists those." },
  } as const,
});

const ImportProblem = builder.objectRef<Problem>("ImportProblem").implement({
  description: "What is wrong at one place of a product.",
  fields: (t) => ({
    code: t.exposeString("code", { description: "The kind of problem, for programs; as in errors." }),
    message: t.exposeString("message"),
    path: t.field({
      type: ["PathStep"],
      description: `Steps from the root of the input to the place: ["products", 3, "price"].`,
      resolve: ({ path }) => path,
    }),
    line: t.int({
      nullable: true,
      description: "In CSV: the line on which the row starts.",
      resolve: (p) => p.line ?? null,
    }),
  }),
});

const ProductImportFailure = builder.objectRef<ImportFailure>("ProductImportFailure").implement({
  description: "A product that was not stored, and why.",
  fields: (t) => ({
    index: t.exposeInt("index", { nullable: true, description: "Its place in the list, from 0; null in CSV." }),
    line: t.exposeInt("line", {
      nullable: true,
      description: "In CSV: the line on which its row starts; line 1 is the header.",
    }),
    id: t.exposeString("id", { nullable: true, description: "As it was sent; null where that could not be read." }),
    sku: t.exposeString("sku", { nullable: true, description: "As it was sent; null where that could not be read." }),
    problems: t.field({
      type: [ImportProblem],
      description: `What is wrong with it: the first ${rowProblemsMax} problems.`,
      extensions: { itemsExpected: rowProblemsMax },
      resolve: ({ problems }) => problems,
    }),
    problemsTotal: t.exposeInt("problemsTotal", { description: "How many problems it has." }),
  }),
});

export const ProductImport = builder.objectRef<ImportResult>("ProductImport").implement({
  description: "What an import did, or what a dry run found that it would do.",
  fields: (t) => ({
    message: t.exposeString("message"),
    imported: t.exposeInt("imported", { description: "Products stored: created and updated." }),
    created: t.exposeInt("created", { description: "Products that the store did not have." }),
    updated: t.exposeInt("updated", { description: "Products that were replaced." }),
    failed: t.exposeInt("failed", { description: "Products that were not stored; without REJECT_FAILED always 0." }),
    failures: t.field({
      type: [ProductImportFailure],
      description: `The first ${failuresListedMax} products that were not stored, in their order.`,
      extensions: { itemsExpected: failuresListedMax },
      resolve: ({ failures }) => failures,
    }),
  }),
});

/** What all imports can be told besides what to import. */
export const importArgs = builder.args((t) => ({
  errorPolicy: t.field({
    type: ImportErrorPolicy,
    required: false,
    defaultValue: "REJECT_ALL",
    description: "Whether products that fail keep the others from being stored.",
  }),
  dryRun: t.boolean({
    required: false,
    defaultValue: false,
    description: "Finds out what the import would do, what only the database knows included, and stores nothing.",
  }),
}));

/** What stands in GraphQL's way for a product that has not the shape of one; its id is none that a product may have. */
export function productStandIn(ticket: string): ProductInput {
  return { id: ticket, sku: "", title: "", available: false, featured_image: "", url: "" };
}

/** Products as callers sent them, those too for which something stands in. */
export function asSent(products: readonly ProductInput[], { aside }: Context): readonly unknown[] {
  if (aside === undefined) return products;
  return products.map((product) => (aside.has(product.id) ? aside.get(product.id) : product));
}

/** With REJECT_FAILED a product that has not even the shape of one fails by itself: see graphql/setAside.ts. */
export const importExtensions = { setsAside: { argument: "errorPolicy", value: "REJECT_FAILED" } };

interface ImportArguments {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  readonly dryRun?: boolean | null | undefined;
}

/** Runs an import as a part of its request. A dry run does not count as one. */
export function observed(
  { dryRun }: ImportArguments,
  { observation }: Context,
  work: () => Promise<ImportResult>,
): Promise<ImportResult> {
  return dryRun === true ? observation.within("dry run of an import", work) : observation.importing(work);
}

/** What every import is told, from its arguments and its request. */
export function importOptions(
  { errorPolicy, dryRun, ...site }: ImportArguments,
  { idempotency, setHeader, observation }: Context,
  { path }: GraphQLResolveInfo,
): ImportOptions {
  if (idempotency === undefined) return { site, errorPolicy, dryRun };
  const onReplay = () => {
    setHeader("idempotency-replayed", "true");
    observation.replayed();
  };
  const request: IdempotentRequest = { ...idempotency, field: String(path.key), onReplay };
  return { site, errorPolicy, dryRun, idempotency: request };
}
