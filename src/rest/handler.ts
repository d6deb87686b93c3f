import type { ExecutionResult, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { AppError } from "../errors.js";
import type { Context, FileReading } from "../schema/context.js";
import { type ErrorExtensions } from "../schema/errors.js";
import { scopeOf } from "../schema/scopes.js";
import { executeOperation } from "../execution/execute.js";
import { compiled, type Operation } from "../execution/operation.js";
import type { Variables } from "../execution/inputShape.js";
import type { JsonBody } from "../lib/json/body.js";
import {
  type Arguments,
  bodyArguments,
  bodyMembers,
  uploadArguments,
  urlArguments,
  withPathField,
} from "./arguments.js";
import { type Batches, createBatches } from "./batches.js";
import { type ExportCall, prepareExports } from "./exports.js";
import type { RestOperation } from "./operations.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";
import { restBase, takesBody } from "./routes.js";

/** What a call sends. */
interface RestInput {
  /** The query string, without its question mark. */
  readonly search: string;
  /** Undefined where the operation takes no body, or the body is a file, which is in the context. */
  readonly body: JsonBody | undefined;
  readonly isUpload?: boolean;
  /** Whether the body is executed in batches: its items are no arguments yet. */
  readonly isInBatches?: boolean;
}

/** A call of a documented path, before its body is read. */
export interface RestCall {
  /** The whole path, parameters by their names. */
  readonly route: string;
  /** The scope that the token needs, as the field declares it: to be checked before the body is read. */
  readonly scope: ReturnType<typeof scopeOfRoute>;
  readonly takesBody: boolean;
  /** The media types of bodies that are a file. */
  readonly uploadTypes: readonly string[];
  /** The media types of bodies that are executed in batches, as they arrive. */
  readonly batchTypes: readonly string[];
  openBatches(context: Context): Batches;
  /** Executes it. @throws {AppError} for arguments that cannot be read; any other error is an answer */
  run(input: RestInput, context: Context): Promise<RestAnswer>;
}

export interface RestHandler {
  /** @throws {AppError} NOT_FOUND, or METHOD_NOT_ALLOWED with the methods that are allowed */
  prepare(method: string, path: string): RestCall | ExportCall;
}

export type RestAnswer =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly problem: ProblemDetails; readonly retryAfterSeconds: number | undefined };

interface PreparedOperation extends RestOperation {
  readonly scope: RestCall["scope"];
  readonly prepared: Operation;
  readonly route: string;
  readonly pattern: RegExp;
  readonly readArguments: (segments: Readonly<Record<string, string>>, input: RestInput) => Arguments;
}

export class MethodNotAllowedError extends AppError {
  constructor(readonly allowed: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `This path accepts ${allowed.join(", ")}.`);
  }
}

/**
 * Serves the documented paths. Everything about a route that can be known at start is prepared here, once.
 *
 * @throws {Error} for a route whose arguments cannot be written in its URL
 */
export function createRestHandler(schema: GraphQLSchema, operations: readonly RestOperation[]): RestHandler {
  const prepared = operations.map((operation) => prepareOperation(schema, operation));
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
        if (operation.method === wanted) return callOf(operation, match.groups ?? {});
        others.push(operation);
      }
      if (others.length === 0) throw new AppError("NOT_FOUND", "There is nothing at this path.");
      throw new MethodNotAllowedError(allowedMethods(others));
    },
  };
}

function callOf(operation: PreparedOperation, segments: Readonly<Record<string, string>>): RestCall {
  return {
    route: operation.route,
    scope: operation.scope,
    takesBody: takesBody(operation),
    uploadTypes: operation.upload?.mediaTypes ?? [],
    batchTypes: operation.batches?.mediaTypes ?? [],
    openBatches(context) {
      const { argument = "" } = operation.batches ?? {};
      const { variables } = operation.readArguments(segments, { search: "", body: undefined, isInBatches: true });
      return createBatches(argument, (items) =>
        executeOperation(operation.prepared, { ...variables, [argument]: items }, context, { arraysOnly: true }),
      );
    },
    async run(input, context) {
      const { variables, problems, ...body } = operation.readArguments(segments, input);
      const uploadOptions = input.isUpload === true ? readingOptions(input.search, operation) : undefined;
      let reading: FileReading | undefined;
      const onFileRead = (found: FileReading) => (reading = found);
      const within = { ...context, ...body, ...(input.isUpload === true && { uploadOptions, onFileRead }) };
      const result = await executeOperation(operation.prepared, variables, within, {
        arraysOnly: true,
        ...(problems && { found: problems }),
      });
      return answer(result, operation, variables, reading);
    },
  };
}

/** Parameters about how a body that is a file is read; undefined if there are none. */
function readingOptions(search: string, { upload }: RestOperation): Record<string, string> | undefined {
  const query = new URLSearchParams(search);
  const given = (upload?.readingOptions ?? []).flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

function prepareOperation(schema: GraphQLSchema, operation: RestOperation): PreparedOperation {
  const { method, path, document, operationName, operation: label } = operation;
  const pattern = new RegExp(`^${restBase}${path.replaceAll(/:(\w+)/gu, "(?<$1>[^/]+)")}$`, "u");
  const prepared = restNamed(compiled(schema, document, operationName), label);
  const { definition } = prepared;
  if (definition === undefined) throw new Error(`${method} ${path} has no operation.`);
  const route = `${restBase}${path}`;
  const scope = scopeOfRoute(schema, operation);
  return {
    ...operation,
    prepared,
    scope,
    pattern,
    readArguments: argumentReader(schema, definition, operation),
    route,
  };
}

/** @throws {Error} for a field that the schema does not have */
function scopeOfRoute(schema: GraphQLSchema, { root, operation }: Pick<RestOperation, "root" | "operation">) {
  const type = root === "Query" ? schema.getQueryType() : schema.getMutationType();
  const field = type?.getFields()[operation];
  const scope = field && scopeOf(field);
  if (scope === undefined) throw new Error(`${root}.${operation} declares no scope.`);
  return scope;
}

function argumentReader(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  operation: RestOperation,
): PreparedOperation["readArguments"] {
  const { method, path, upload, pathField } = operation;
  const route = `${method} ${restBase}${path}`;
  if (!takesBody(operation)) {
    const read = urlArguments(route, schema, definition);
    return (segments, { search }) => ({ variables: read(segments, search) });
  }
  const variables = definition.variableDefinitions ?? [];
  const isInPath = ({ variable }: (typeof variables)[number]) => path.split("/").includes(`:${variable.name.value}`);
  const readPath = urlArguments(route, schema, { ...definition, variableDefinitions: variables.filter(isInPath) });
  const ofBody = { ...definition, variableDefinitions: variables.filter((variable) => !isInPath(variable)) };
  const known = bodyMembers(schema, ofBody, pathField);
  const readUpload = upload && uploadArguments(route, schema, ofBody, upload);
  return (segments, { search, body, isUpload = false, isInBatches = false }) => {
    const inPath = readPath(segments, "");
    if (isInBatches) return { variables: inPath };
    if (isUpload && readUpload !== undefined) return { variables: { ...inPath, ...readUpload(search) } };
    const { variables: inBody, ...args } = bodyArguments(body, known);
    const all = { ...args, variables: { ...inBody, ...inPath } };
    return pathField === undefined ? all : withPathField(all, pathField, segments);
  };
}

function restNamed(operation: Operation, label: string): Operation {
  const { names } = operation;
  return { ...operation, names: names && { ...names, style: "rest", label } };
}

function allowedMethods(operations: readonly Pick<RestOperation, "method">[]): string[] {
  const methods = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(methods)].toSorted();
}

function answer(
  { data, errors }: ExecutionResult,
  route: PreparedOperation,
  variables: Variables,
  reading: FileReading | undefined,
): RestAnswer {
  const [error] = errors ?? [];
  if (error === undefined) {
    return { status: 200, body: withReading(shown(data?.[route.operation], route, variables), reading) };
  }
  const extensions = error.extensions as unknown as ErrorExtensions; // presentError() made them
  const problem = problemDetails(error.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

/** Adds what reading a file showed, where that was asked for. */
function withReading(body: unknown, { format, notes, preview }: FileReading = {}): unknown {
  if (format === undefined && preview === undefined) return body;
  return {
    ...(body as object),
    ...(format !== undefined && { format, notes }),
    ...(preview !== undefined && { products: preview }),
  };
}

/** Omits the fields that are shown on demand only. */
function shown(body: unknown, { shownOnDemand = [] }: PreparedOperation, variables: Variables): unknown {
  const omitted = shownOnDemand.flatMap(({ fields, argument, value }) => (variables[argument] === value ? [] : fields));
  if (omitted.length === 0) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => !omitted.includes(name)));
}
