import { getOperationAST, type GraphQLSchema, OperationTypeNode, parse } from "graphql";
import type { Context } from "../../schema/context.js";
import { codeOf, presentError } from "../../schema/errors.js";
import { type BegunExport, type ExportRoute, exportRoutes } from "./export.routes.js";
import { restBase } from "../routes/route.js";
import { onlyParameters } from "../arguments/checkParameters.js";
import { urlArguments } from "../arguments/urlArguments.js";

export interface ExportCall extends Pick<ExportRoute, "mediaType" | "fileName" | "scope"> {
  /** The whole path. */
  readonly route: string;
  /**
   * Begins the export, which the caller closes. What refuses it is thrown here.
   *
   * @param search the query string, without its question mark
   * @param isHead whether nothing is to be read, for HEAD
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
        const begun = await open(read({}, search), context, isHead);
        observation.ended(names, undefined);
        return begun;
      } catch (error) {
        const silent = { requestId: context.requestId, reportError: () => undefined };
        observation.ended(names, codeOf([presentError(error, silent)]));
        throw error;
      }
    },
  };
}
