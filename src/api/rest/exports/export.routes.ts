import { getOperationAST, type GraphQLSchema, OperationTypeNode, parse } from "graphql";
import type { Scope } from "../../../schema/scopes.js";
import { resolveSite } from "../../../stores/site.js";
import type { ShowDelimiter } from "../../../figures/store/showColumns.js";
import { exportMoments, exportShows, type ShowExportOptions } from "../../../figures/store/showExport.js";
import { checkRange, type StoreRange } from "../../../figures/store/storeRange.js";
import { type ExportOptions, exportProducts } from "../../../catalog/export/export.js";
import type { ExportFormat } from "../../../catalog/export/export.sql.js";
import { Problems } from "../../../errors.js";
import { dateTimeName, parseDateTime } from "../../../lib/dateTime.js";
import { mustBe } from "../../../lib/mustBe.js";
import type { Context } from "../../../schema/context.js";
import { noteSiteUse } from "../../../schema/builder.js";
import { admitCall } from "../../../schema/limits/rateLimit.js";
import { codeOf, presentError } from "../../../schema/publicErrors.js";
import { restBase } from "../routes/route.js";
import { onlyParameters, urlArguments } from "../arguments/readArguments.js";

/** A path that answers with a file, which is made while it is sent. */
export interface ExportRoute {
  readonly path: string;
  /** It must not change, because it names a function in generated clients. */
  readonly operationId: string;
  readonly summary: string;
  readonly mediaType: string;
  readonly fileName: string;
  readonly scope: Scope;
  /** Its arguments, as the variables of an operation. */
  readonly declared: string;
  readonly open: OpenExport;
}

/**
 * Begins an export, and waits for its first piece. Counts the call.
 *
 * @param isHead for HEAD, which reads nothing
 * @throws {AppError} for invalid arguments, RATE_LIMITED, UNAVAILABLE, and other refusals
 */
type OpenExport = (args: Readonly<Record<string, unknown>>, context: Context, isHead: boolean) => Promise<BegunExport>;

/** An export whose first piece is ready. */
interface BegunExport {
  readonly pieces: AsyncIterable<Buffer>;
  /** Releases what the export holds, even if nothing of it was read. */
  close(): Promise<void>;
}

const productArguments = "$available: Boolean, $siteId: String, $siteType: String, $updatedSince: DateTime";
const figureArguments = "$from: DateTime, $until: DateTime, $bom: Boolean, $delimiter: String";

export const exportRoutes: readonly ExportRoute[] = [
  {
    path: "/product/v1/bulk/ndjson",
    operationId: "exportProducts",
    summary: "Export of all products as NDJSON",
    mediaType: "application/x-ndjson",
    fileName: "products.ndjson",
    scope: "catalog:read",
    declared: productArguments,
    open: openProducts("ndjson"),
  },
  {
    path: "/product/v1/bulk/csv",
    operationId: "exportProductsCsv",
    summary: "Export of all products as CSV",
    mediaType: "text/csv; charset=utf-8",
    fileName: "products.csv",
    scope: "catalog:read",
    declared: productArguments,
    open: openProducts("csv"),
  },
  {
    path: "/analytics/v1/live-streams.csv",
    operationId: "exportLiveStreamAnalyticsCsv",
    summary: "Figures of shows as CSV",
    mediaType: "text/csv; charset=utf-8",
    fileName: "live-streams.csv",
    scope: "analytics:read",
    declared: figureArguments,
    open: openFigures((db, storeId, options) => exportShows(db, storeId, "csv", options)),
  },
  {
    path: "/analytics/v1/moments.csv",
    operationId: "exportMomentsCsv",
    summary: "Figures of moments of shows as CSV",
    mediaType: "text/csv; charset=utf-8",
    fileName: "moments.csv",
    scope: "analytics:read",
    declared: figureArguments,
    open: openFigures(exportMoments),
  },
];

function openProducts(format: ExportFormat): OpenExport {
  return async (args, context, isHead) => {
    const { db, identity } = context;
    const { site, ...narrowed } = productOptions(args);
    await admitCall("product", context);
    noteSiteUse(site, context);
    if (isHead) await resolveSite(db, identity.storeId, site);
    if (isHead) return begun(nothing());
    const options = { ...narrowed, site, signal: context.access.endSignal() };
    return begun(exportProducts(db, identity.storeId, format, options));
  };
}

/** @throws {AppError} VALIDATION_FAILED */
function productOptions({ siteId, siteType, available, updatedSince }: Readonly<Record<string, unknown>>) {
  const problems = new Problems();
  const since = readMoment("updatedSince", updatedSince, problems);
  problems.throwIfAny();
  return {
    site: { siteId, siteType } as NonNullable<ExportOptions["site"]>, // their declared types are strings
    available: available as boolean | undefined,
    updatedSince: since,
  };
}

function openFigures(
  write: (db: Context["db"], storeId: string, options: ShowExportOptions) => AsyncGenerator<Buffer, void>,
): OpenExport {
  return async (args, context, isHead) => {
    const options = { ...showRange(args), ...showLayout(args) };
    await admitCall("analytics", context);
    if (isHead) return begun(nothing());
    const { db, identity } = context;
    return begun(write(db, identity.storeId, { ...options, signal: context.access.endSignal() }));
  };
}

/** @throws {AppError} VALIDATION_FAILED */
function showRange(args: Readonly<Record<string, unknown>>): StoreRange {
  const problems = new Problems();
  const [from, until] = ["from", "until"].map((name) => {
    if (args[name] === undefined) problems.add({ code: "REQUIRED", message: `${name} is required.`, path: [name] });
    return readMoment(name, args[name], problems) ?? new Date(0);
  }) as [Date, Date];
  problems.throwIfAny();
  return checkRange(from, until, "UTC");
}

/** By the names that imports use, or by the character itself. */
const delimiters: ReadonlyMap<unknown, ShowDelimiter> = new Map([
  [undefined, ","],
  [",", ","],
  ["comma", ","],
  [";", ";"],
  ["semicolon", ";"],
]);

/** @throws {AppError} VALIDATION_FAILED */
function showLayout({ bom, delimiter: given }: Readonly<Record<string, unknown>>) {
  const problems = new Problems();
  const delimiter = delimiters.get(given);
  if (delimiter === undefined) {
    const message = mustBe("delimiter", "a comma or a semicolon", given);
    problems.add({ code: "INVALID_VALUE", message, path: ["delimiter"] });
  }
  problems.throwIfAny();
  return { hasBom: bom === true, delimiter: delimiter ?? "," };
}

function readMoment(name: string, given: unknown, problems: Problems): Date | undefined {
  const moment = typeof given === "string" ? parseDateTime(given) : undefined;
  if (given !== undefined && moment === undefined) {
    const expected = `${dateTimeName}, such as 2026-05-04T18:30:00Z`;
    problems.add({ code: "VALIDATION_FAILED", message: mustBe(name, expected, given), path: [name] });
  }
  return moment;
}

/** Waits for the first piece. */
async function begun(pieces: AsyncGenerator<Buffer, void>): Promise<BegunExport> {
  const first = await pieces.next();
  return { pieces: continued(first, pieces), close: async () => void (await pieces.return()) };
}

/** Does not close `others` if it is never read, because a generator only runs when it is read. */
async function* continued(first: IteratorResult<Buffer, void>, others: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  if (first.done !== true) yield first.value;
  yield* others;
}

async function* nothing(): AsyncGenerator<Buffer, void> {
  // HEAD has no body
}

export interface ExportCall extends Pick<ExportRoute, "mediaType" | "fileName" | "scope"> {
  /** The whole path. */
  readonly route: string;
  /**
   * Begins the export, which the caller must close. Throws all refusals, so that none comes after the first byte.
   *
   * @param search the query string, without its question mark
   * @param isHead for HEAD, which reads nothing
   * @throws {AppError} for invalid arguments, SITE_NOT_FOUND, RATE_LIMITED or UNAVAILABLE
   */
  open(search: string, context: Context, isHead: boolean): Promise<BegunExport>;
}

/** @returns the export of a path, if it is one */
export function prepareExports(schema: GraphQLSchema): (path: string) => ExportCall | undefined {
  const calls = exportRoutes.map((route) => [`${restBase}${route.path}`, exportCall(schema, route)] as const);
  const byPath: ReadonlyMap<string, ExportCall> = new Map(calls);
  return (path) => byPath.get(path);
}

function exportCall(
  schema: GraphQLSchema,
  { path, operationId, mediaType, fileName, scope, declared, open }: ExportRoute,
): ExportCall {
  const route = `${restBase}${path}`;
  const definition = getOperationAST(parse(`query (${declared}) { x }`));
  if (!definition) throw new Error("The arguments of the exports are not one operation.");
  const check = onlyParameters((definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value));
  const read = urlArguments(`GET ${route}`, schema, definition);
  const names = { style: "rest", kind: OperationTypeNode.QUERY, label: operationId, fields: [operationId] } as const;
  return {
    route,
    mediaType,
    fileName,
    scope,
    async open(search, context, isHead) {
      const { observation } = context;
      observation.begins(names);
      try {
        check(search);
        const exported = await open(read({}, search), context, isHead);
        observation.ended(names, undefined);
        return exported;
      } catch (error) {
        const silent = { requestId: context.requestId, reportError: () => undefined };
        observation.ended(names, codeOf([presentError(error, silent)]));
        throw error;
      }
    },
  };
}
