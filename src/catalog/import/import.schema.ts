import type { GraphQLResolveInfo } from "graphql";
import { errorAt, errorCodes, placeCodes, type Problem, type ProblemCode } from "../../errors.js";
import { builder, enumValues, noteSiteUse } from "../../schema/builder.js";
import type { Context, Original } from "../../schema/context.js";
import { type ErrorPolicy, failuresListedMax, rowProblemsMax } from "../../files/rowChecks.js";
import type { CsvSource } from "./entryPoints/fileProducts.js";
import type { ImportOptions } from "./import.js";
import type { IdempotentRequest, ImportFailure, ImportResult } from "./importTypes.js";
import type { ImportMode as ImportModeValue, ModeOptions } from "./modes/mode.js";

const ImportErrorPolicy = builder.enumType("ImportErrorPolicy", {
  description: "How an import handles products that fail.",
  values: enumValues<ErrorPolicy>({
    REJECT_ALL: "None of its products is stored; the response is an error with every problem.",
    REJECT_FAILED: "All but the failed ones are stored; the response lists those.",
  }),
});

const ImportMode = builder.enumType("ImportMode", {
  description: "How an import treats the products that it contains, and the others of the store.",
  values: enumValues<ImportModeValue>({
    UPSERT: "Replaces the products that it contains, and keeps the others.",
    PATCH:
      "Changes only the given fields; null clears an optional one. A missing product fails, or is created if all required fields are given. For importProductsCsv; lists of products have patchProducts.",
    REPLACE:
      "Replaces the catalog: deletes products that it does not contain, in the same transaction. With a siteId, only those of that site.",
  }),
});

const ErrorCode = builder.enumType("ErrorCode", {
  description:
    "What went wrong, for programs. Errors have it as extensions.code, and as code of each of extensions.errors; problems of an import have it as code. Later versions may add values.",
  values: enumValues<ProblemCode>({ ...errorCodes, ...placeCodes }),
});

const ImportProblem = builder.objectRef<Problem>("ImportProblem").implement({
  description: "What is wrong at one place of a product.",
  fields: (t) => ({
    code: t.field({ type: ErrorCode, description: "The kind of problem, for programs.", resolve: ({ code }) => code }),
    message: t.exposeString("message", { description: "What is wrong, in a sentence for people." }),
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
    message: t.exposeString("message", { description: "What was done or found, in a sentence for people." }),
    imported: t.exposeInt("imported", { description: "Products stored: created and updated." }),
    created: t.exposeInt("created", { description: "Products that the store did not have." }),
    updated: t.exposeInt("updated", { description: "Products that were replaced." }),
    deleted: t.exposeInt("deleted", { description: "Products that were deleted; without REPLACE always 0." }),
    failed: t.exposeInt("failed", { description: "Products that were not stored; without REJECT_FAILED always 0." }),
    failures: t.field({
      type: [ProductImportFailure],
      description: `The first ${failuresListedMax} products that were not stored, in their order.`,
      extensions: { itemsExpected: failuresListedMax },
      resolve: ({ failures }) => failures,
    }),
  }),
});

export const modeArgs = builder.args((t) => ({
  mode: t.field({
    type: ImportMode,
    required: false,
    defaultValue: "UPSERT",
    description: "How an import treats products, and fields, that it does not contain.",
  }),
  maxDeletions: t.int({
    required: false,
    description:
      "With REPLACE: refuses the import if it would remove more products. By default a tenth of the catalog or 10, whichever is more, but at most half of it, and none if the import stores no product.",
  }),
}));

export const importArgs = builder.args((t) => ({
  errorPolicy: t.field({
    type: ImportErrorPolicy,
    required: false,
    defaultValue: "REJECT_ALL",
    description: "Whether a product that fails rejects the whole import.",
  }),
  dryRun: t.boolean({
    required: false,
    defaultValue: false,
    description:
      "Validates the import, conflicts with stored products included, and reports what it would do. Stores nothing.",
  }),
}));

/** @param given an input object, a list of them, or the placeholder that GraphQL received; see api/execution/input/rawInputs.ts */
export function asSent(given: unknown, { sent: { originals, frame } }: Context): Original {
  const first: unknown = Array.isArray(given) ? given[0] : given; // undefined for an empty list in a document without variables
  const { id } = (first ?? {}) as { readonly id?: unknown };
  const original = typeof id === "string" ? originals?.get(id) : undefined;
  if (original === undefined) return { value: given, takesSingles: false, frame };
  return "unparsed" in original ? original : { ...original, frame };
}

/** The text, or its unparsed JSON string if GraphQL received a placeholder. */
export function csvAsSent(csvContent: string, { sent: { originals } }: Context): CsvSource {
  const original = originals?.get(csvContent);
  return original !== undefined && "unparsed" in original ? { json: original.unparsed } : { text: csvContent };
}

interface ImportArguments extends ModeOptions {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
  readonly errorPolicy?: ErrorPolicy | null | undefined;
  readonly dryRun?: boolean | null | undefined;
}

/** A dry run does not count as an import. */
export async function observed(
  { dryRun }: ImportArguments,
  { observation, notify, sent: { isCheckOnly } }: Context,
  work: () => Promise<ImportResult>,
): Promise<ImportResult> {
  const result = await (dryRun === true || isCheckOnly === true
    ? observation.within("dry run of an import", work)
    : observation.importing(work));
  if (result.reading !== undefined) notify({ kind: "fileRead", reading: result.reading });
  return result;
}

/**
 * Refuses PATCH over GraphQL, because the schema's type of products requires fields that a patch may omit.
 *
 * @throws {AppError} VALIDATION_FAILED for a patch over GraphQL
 */
export function refusePatch({ mode }: ModeOptions, { sent: { isRest } }: Context): void {
  if (mode !== "PATCH" || isRest) return;
  throw errorAt("VALIDATION_FAILED", "Over GraphQL, use patchProducts in place of the mode PATCH.", ["mode"]);
}

export function importOptions(
  { mode, maxDeletions, errorPolicy, dryRun, ...site }: ImportArguments,
  { sent: { idempotency, isCheckOnly = false }, notify, access }: Context,
  { path }: GraphQLResolveInfo,
): ImportOptions {
  noteSiteUse(site, { notify });
  if (isCheckOnly) return { mode, dryRun: true, signal: access.endSignal() };
  const options = { site, mode, maxDeletions, errorPolicy, dryRun, signal: access.endSignal() };
  if (idempotency === undefined) return options;
  const onReplay = () => notify({ kind: "replayed" });
  const request: IdempotentRequest = { ...idempotency, field: String(path.key), onReplay };
  return { ...options, idempotency: request };
}
