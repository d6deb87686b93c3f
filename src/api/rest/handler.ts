import type { GraphQLSchema, ExecutionResult } from "graphql";
import type { RootDatabase } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { executeOperation } from "../execution/execute.js";
import { compiled, type Operation } from "../execution/operation.js";
import type { Context, FileReading, Notice, RequireState, Sent } from "../../schema/context.js";
import type { RequiredScope } from "../../schema/scopes.js";
import { Batches } from "./batches.js";
import { type ExportCall, prepareExports } from "./exports/export.routes.js";
import { planRest, type RestOperation } from "./routes/derivation.js";
import { argumentReader, type RestInput } from "./arguments/readArguments.js";
import { bodyTypesOf, restBase, takesBody, takesCondition, takesKey } from "./routes/route.js";
import type { Variables } from "../execution/input/inputShape.js";
import { extensionsOf, presentError } from "../../schema/publicErrors.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";

/** A call of a documented path, before its body is read. */
export interface RestCall {
  /** The whole path, with names of parameters. */
  readonly route: string;
  /** The media type of the answer. */
  readonly mediaType: string;
  /** The scope that is required before the body is read. */
  readonly scope: RequiredScope;
  readonly takesBody: boolean;
  readonly takesKey: boolean;
  /** Whether GET of the same path answers with the state that the call replaces. */
  readonly takesCondition: boolean;
  readonly uploadTypes: readonly string[];
  /** All types of bodies, in words. */
  readonly bodyTypes: string;
  readonly batchTypes: readonly string[];
  /** Call this before reading the body. @throws {AppError} BAD_REQUEST or VALIDATION_FAILED for unknown parameters */
  checkParameters(search: string, body: "file" | "members"): void;
  openBatches(context: Context): Batches;
  /** Executes the call. @throws {AppError} if arguments cannot be read; other errors are in the response */
  run(input: RestInput, context: Context): Promise<RestResponse>;
}

export interface RestHandler {
  /** @throws {AppError} NOT_FOUND, or METHOD_NOT_ALLOWED with the allowed methods */
  prepare(method: string, path: string): RestCall | ExportCall;
  /** The route of a path, with names of parameters; undefined if the path serves no method. */
  routeOf(path: string): string | undefined;
}

/** The path parameters, still percent-encoded. */
type Segments = Readonly<Record<string, string>>;

interface PreparedOperation extends RestOperation {
  readonly scope: RestCall["scope"];
  readonly prepared: Operation;
  readonly takesKey: boolean;
  readonly bodyTypes: string;
  readonly route: string;
  readonly pattern: RegExp;
  readonly args: ReturnType<typeof argumentReader>;
}

/** @param path to hint at encoding, because it may contain an id with a slash */
export function pathNotFound(path = ""): AppError {
  const hint = path.startsWith(`${restBase}/product/v1/`) ? " A slash within an id is written %2F." : "";
  return new AppError("NOT_FOUND", `No resource exists at this path.${hint}`);
}

export class MethodNotAllowedError extends AppError {
  constructor(readonly allowed: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `This path accepts ${allowed.join(", ")}.`);
  }
}

/**
 * Serves the documented paths. Prepares at start everything about a route that does not depend on the request.
 *
 * @throws {Error} if arguments of a route cannot be written in its URL
 */
export function createRestHandler(schema: GraphQLSchema, operations: readonly RestOperation[]): RestHandler {
  const prepared = operations.map((operation) => prepareOperation(schema, operation));
  const reads = new Map(
    prepared.flatMap((operation) => (operation.method === "GET" ? [[operation.path, operation]] : [])),
  );
  const readOf = (operation: PreparedOperation) => (takesCondition(operation) ? reads.get(operation.path) : undefined);
  const exportAt = prepareExports(schema);
  return {
    prepare(method, path) {
      const wanted = method === "HEAD" ? "GET" : method;
      const exported = exportAt(path);
      if (wanted === "GET" && exported !== undefined) return exported;
      const others: Pick<PreparedOperation, "method">[] = exported === undefined ? [] : [{ method: "GET" }];
      for (const operation of prepared) {
        const match = operation.pattern.exec(path);
        if (match === null) continue;
        if (operation.method === wanted) return callOf(operation, match.groups ?? {}, readOf(operation));
        others.push(operation);
      }
      if (others.length === 0) throw pathNotFound(path);
      throw new MethodNotAllowedError(allowedMethods(others));
    },
    routeOf: (path) => (exportAt(path) ?? prepared.find(({ pattern }) => pattern.test(path)))?.route,
  };
}

/** @param read the GET of the same path, for a write that may have a condition */
function callOf(operation: PreparedOperation, segments: Segments, read: PreparedOperation | undefined): RestCall {
  return {
    route: operation.route,
    mediaType: "application/json",
    scope: operation.scope,
    takesBody: takesBody(operation),
    takesKey: operation.takesKey,
    takesCondition: read !== undefined,
    uploadTypes: operation.upload?.mediaTypes ?? [],
    bodyTypes: operation.bodyTypes,
    batchTypes: operation.batches?.mediaTypes ?? [],
    checkParameters: (search, body) => operation.args.check[body](search),
    openBatches(context) {
      const { argument = "" } = operation.batches ?? {};
      const { variables } = operation.args.read(segments, { search: "", body: undefined, isInBatches: true });
      return new Batches(argument, (items) =>
        executeOperation(operation.prepared, { ...variables, [argument]: items }, context, { arraysOnly: true }),
      );
    },
    async run(input, context) {
      const { variables, problems, ...body } = operation.args.read(segments, input);
      const isFile = input.isUpload === true;
      const uploadOptions = isFile ? readingOptions(input.search, operation) : undefined;
      let reading: FileReading | undefined;
      const notify = (notice: Notice) => {
        if (notice.kind === "fileRead") reading = notice.reading;
        context.notify(notice);
      };
      const requireState = read && stateCheck(read, segments, input, context);
      const sent = { ...context.sent, ...body, uploadOptions, requireState };
      const isPlain = input.body === undefined && !isFile && requireState === undefined;
      const within = isPlain ? context : { ...context, notify, sent };
      const result = await executeOperation(operation.prepared, variables, within, {
        arraysOnly: true,
        ...(problems && { found: problems }),
      });
      return toRestResponse(result, operation, variables, reading);
    },
  };
}

/** Compares the answer to GET of the path within the transaction of a write. It does not count for the rate limits. */
function stateCheck(
  read: PreparedOperation,
  segments: Segments,
  { search, condition }: RestInput,
  context: Context,
): RequireState | undefined {
  if (condition === undefined) return undefined;
  const { variables } = read.args.read(segments, { search, body: undefined });
  const limits = { ...context.limits, rates: { ...context.limits.rates, policies: {} } };
  return async (transaction) => {
    const db = transaction as RootDatabase; // reads of these paths do not begin a transaction
    const { data, errors } = await read.prepared.run(variables, { ...context, db, limits, notify: () => undefined });
    const [error] = errors ?? [];
    if (error === undefined) return condition(JSON.stringify(shown(data?.[read.operation], read, variables)));
    const { code } = extensionsOf(presentError(error, context));
    if (code !== "LIVE_STREAM_NOT_FOUND") throw error;
    condition(undefined);
  };
}

/** Parameters about how the file in the body is read; undefined if there are none. */
function readingOptions(search: string, { upload }: RestOperation): Sent["uploadOptions"] {
  const query = new URLSearchParams(search);
  const given = (upload?.readingOptions ?? []).flatMap((name) => {
    const values = query.getAll(name);
    return values.length === 0 ? [] : [[name, values] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function prepareOperation(schema: GraphQLSchema, operation: RestOperation): PreparedOperation {
  const { method, path, document, operationName, operation: label } = operation;
  // oxlint-disable-next-line vitrine/linear-patterns -- of our own paths: each parameter ends at the next slash
  const pattern = new RegExp(`^${restBase}${path.replaceAll(/:(\w+)/gu, "(?<$1>[^/]+)")}$`, "u");
  const prepared = restNamed(compiled(schema, document, operationName), label);
  const { definition } = prepared;
  if (definition === undefined) throw new Error(`${method} ${path} has no operation.`);
  const route = `${restBase}${path}`;
  const scope = scopeOfRoute(schema, operation);
  return {
    ...operation,
    prepared,
    takesKey: takesKey(operation),
    bodyTypes: bodyTypesOf(operation),
    scope,
    pattern,
    args: argumentReader(schema, definition, operation),
    route,
  };
}

/** @throws {Error} if the schema does not have the field */
function scopeOfRoute(schema: GraphQLSchema, { root, operation }: Pick<RestOperation, "root" | "operation">) {
  const type = root === "Query" ? schema.getQueryType() : schema.getMutationType();
  const scope = type?.getFields()[operation]?.extensions.scope;
  if (scope === undefined) throw new Error(`${root}.${operation} declares no scope.`);
  return scope;
}

function restNamed(operation: Operation, label: string): Operation {
  const { names } = operation;
  return { ...operation, names: names && { ...names, style: "rest", label } };
}

function allowedMethods(operations: readonly Pick<RestOperation, "method">[]): string[] {
  const methods = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(methods)].toSorted();
}

/** The part of REST that only depends on the schema. */
export interface PreparedRest {
  readonly operations: readonly RestOperation[];
  readonly handler: RestHandler;
}

/** This takes most of the time in which an app is created, so apps of one process can share the result. */
export async function prepareRest(schema: GraphQLSchema): Promise<PreparedRest> {
  const operations = await planRest(schema);
  return { operations, handler: createRestHandler(schema, operations) };
}

export type RestResponse =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly problem: ProblemDetails; readonly retryAfterSeconds: number | undefined };

/** @param reading how the file was read */
function toRestResponse(
  { data, errors }: ExecutionResult,
  route: RestOperation,
  variables: Variables,
  reading: FileReading | undefined,
): RestResponse {
  const [error] = errors ?? [];
  if (error === undefined) {
    return { status: 200, body: withReading(shown(data?.[route.operation], route, variables), reading) };
  }
  const extensions = extensionsOf(error);
  const problem = problemDetails(error.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

/** Adds how the file was read, if the caller asked for it. */
function withReading(body: unknown, { format, notes, skipped, columns, preview }: FileReading = {}): unknown {
  if (format === undefined && preview === undefined) return body;
  return {
    ...(body as object),
    ...(format !== undefined && { format, notes }),
    ...(skipped !== undefined && { skipped }),
    ...(columns !== undefined && { columns }),
    ...(preview !== undefined && { products: preview }),
  };
}

/** Omits fields that are shown on demand. */
function shown(body: unknown, { shownOnDemand = [] }: RestOperation, variables: Variables): unknown {
  const omitted = shownOnDemand.flatMap(({ fields, argument, value }) => (variables[argument] === value ? [] : fields));
  if (omitted.length === 0) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => !omitted.includes(name)));
}
