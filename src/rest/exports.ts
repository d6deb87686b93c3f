import { getOperationAST, type GraphQLSchema, OperationTypeNode, parse } from "graphql";
import type { Scope } from "../access/scopes.js";
import { resolveSite } from "../access/site.js";
import { exportProducts, type ExportOptions } from "../catalog/export/export.js";
import type { ExportFormat } from "../catalog/export/export.sql.js";
import { errorAt } from "../errors.js";
import { parseDateTime } from "../lib/dateTime.js";
import { mustBe } from "../lib/mustBe.js";
import type { Context } from "../schema/context.js";
import { announceSiteUse } from "../schema/deprecation.js";
import { codeOf, presentError } from "../schema/errors.js";
import { admitCall } from "../schema/rateLimit.js";
import { urlArguments } from "./arguments.js";
import { restBase } from "./routes.js";

/** A path that answers with a whole catalog. */
export interface ExportRoute {
  readonly path: string;
  readonly format: ExportFormat;
  /** The name of its function in generated clients: it must not change. */
  readonly operationId: string;
  readonly summary: string;
  readonly mediaType: string;
  readonly fileName: string;
  /** The scope that the token needs. */
  readonly scope: Scope;
}

export const exportRoutes: readonly ExportRoute[] = [
  {
    path: "/product/v1/bulk",
    format: "ndjson",
    operationId: "exportProducts",
    summary: "Export of all products as NDJSON",
    mediaType: "application/x-ndjson",
    fileName: "products.ndjson",
    scope: "catalog:read",
  },
  {
    path: "/product/v1/bulk/csv",
    format: "csv",
    operationId: "exportProductsCsv",
    summary: "Export of all products as CSV",
    mediaType: "text/csv; charset=utf-8",
    fileName: "products.csv",
    scope: "catalog:read",
  },
];

/** A call of such a path. */
export interface ExportCall extends Pick<ExportRoute, "mediaType" | "fileName" | "scope"> {
  /** The whole path. */
  readonly route: string;
  /**
   * Begins the export. What refuses it is thrown here.
   *
   * @param search the query string, without its question mark
   * @param isHead whether nothing is to be read, for HEAD
   * @throws {AppError} for invalid arguments, SITE_NOT_FOUND, RATE_LIMITED or UNAVAILABLE
   */
  open(search: string, context: Context, isHead: boolean): Promise<AsyncGenerator<Buffer, void>>;
}

const declaredArguments = `query ($available: Boolean, $siteId: String, $siteType: String, $updatedSince: String) { x }`;

/** Prepares the paths of exports. @returns the export of a path, if it is one */
export function prepareExports(schema: GraphQLSchema): (path: string) => ExportCall | undefined {
  const calls = exportRoutes.map((route) => [`${restBase}${route.path}`, exportCall(schema, route)] as const);
  const byPath: ReadonlyMap<string, ExportCall> = new Map(calls);
  return (path) => byPath.get(path);
}

function exportCall(
  schema: GraphQLSchema,
  { path, format, operationId, mediaType, fileName, scope }: ExportRoute,
): ExportCall {
  const route = `${restBase}${path}`;
  const definition = getOperationAST(parse(declaredArguments));
  if (!definition) throw new Error("The arguments of exports are no operation.");
  const read = urlArguments(`GET ${route}`, schema, definition);
  const names = { style: "rest", kind: OperationTypeNode.QUERY, label: operationId, fields: [operationId] } as const;
  return {
    route,
    mediaType,
    fileName,
    scope,
    async open(search, context, isHead) {
      const { db, identity, observation } = context;
      observation.begins(names);
      try {
        const { site, ...narrowed } = exportOptions(read({}, search));
        await admitCall("product", context);
        announceSiteUse(site, context);
        if (isHead) await resolveSite(db, identity.storeId, site);
        const pieces = isHead
          ? nothing()
          : await begun(
              exportProducts(db, identity.storeId, format, { ...narrowed, site, signal: context.disconnectSignal() }),
            );
        observation.ended(names, undefined);
        return pieces;
      } catch (error) {
        const silent = { requestId: context.requestId, reportError: () => undefined };
        observation.ended(names, codeOf([presentError(error, silent)]));
        throw error;
      }
    },
  };
}

/** @throws {AppError} VALIDATION_FAILED */
function exportOptions({ siteId, siteType, available, updatedSince }: Readonly<Record<string, unknown>>) {
  const since = typeof updatedSince === "string" ? parseDateTime(updatedSince) : undefined;
  if (updatedSince !== undefined && since === undefined) {
    const expected = "an ISO 8601 timestamp with a time zone, such as 2026-05-04T18:30:00Z";
    throw errorAt("VALIDATION_FAILED", mustBe("updatedSince", expected, updatedSince), ["updatedSince"]);
  }
  return {
    site: { siteId, siteType } as NonNullable<ExportOptions["site"]>, // strings, by their declared types
    available: available as boolean | undefined,
    updatedSince: since,
  };
}

/** Waits for the first piece. */
async function begun(pieces: AsyncGenerator<Buffer, void>): Promise<AsyncGenerator<Buffer, void>> {
  const first = await pieces.next();
  return (async function* () {
    try {
      if (first.done !== true) yield first.value;
      yield* pieces;
    } finally {
      await pieces.return();
    }
  })();
}

async function* nothing(): AsyncGenerator<Buffer, void> {
  // HEAD has no body
}
