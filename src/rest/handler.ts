import type { ExecutionResult, GraphQLSchema, OperationDefinitionNode } from "graphql";
import { AppError } from "../errors.js";
import type { Context } from "../schema/context.js";
import { type ErrorExtensions } from "../schema/errors.js";
import { executeOperation } from "../execution/execute.js";
import { compiled, type Operation } from "../execution/operation.js";
import type { Variables } from "../execution/inputShape.js";
import type { JsonBody } from "../lib/json/body.js";
import { type Arguments, bodyArguments, urlArguments } from "./arguments.js";
import type { RestOperation } from "./operations.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";
import { restBase } from "./routes.js";

/** What a call sends. */
interface RestInput {
  /** The query string, without its question mark. */
  readonly search: string;
  /** Undefined where the operation takes no body. */
  readonly body: JsonBody | undefined;
}

/** A call of a documented path, before its body is read. */
export interface RestCall {
  /** The whole path, parameters by their names. */
  readonly route: string;
  readonly takesBody: boolean;
  /** Executes it. @throws {AppError} for arguments that cannot be read; any other error is an answer */
  run(input: RestInput, context: Context): Promise<RestAnswer>;
}

export interface RestHandler {
  /** @throws {AppError} NOT_FOUND, or METHOD_NOT_ALLOWED with the methods that are allowed */
  prepare(method: string, path: string): RestCall;
}

export type RestAnswer =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly problem: ProblemDetails; readonly retryAfterSeconds: number | undefined };

interface PreparedOperation extends RestOperation {
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
  return {
    prepare(method, path) {
      const wanted = method === "HEAD" ? "GET" : method;
      const others: PreparedOperation[] = [];
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
    takesBody: operation.method === "POST",
    async run(input, context) {
      const { variables, ...body } = operation.readArguments(segments, input);
      const within = body.bodyLength === undefined ? context : { ...context, ...body };
      const result = await executeOperation(operation.prepared, variables, within, { arraysOnly: true });
      return answer(result, operation, variables);
    },
  };
}

function prepareOperation(schema: GraphQLSchema, operation: RestOperation): PreparedOperation {
  const { method, path, document, operationName, operation: label } = operation;
  const pattern = new RegExp(`^${restBase}${path.replaceAll(/:(\w+)/gu, "(?<$1>[^/]+)")}$`, "u");
  const prepared = restNamed(compiled(schema, document, operationName), label);
  const { definition } = prepared;
  if (definition === undefined) throw new Error(`${method} ${path} has no operation.`);
  const route = `${restBase}${path}`;
  return { ...operation, prepared, pattern, readArguments: argumentReader(schema, definition, operation), route };
}

function argumentReader(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  { method, path }: RestOperation,
): PreparedOperation["readArguments"] {
  if (method === "POST") {
    const known = new Set(definition.variableDefinitions?.map(({ variable }) => variable.name.value));
    return (_, { body }) => bodyArguments(body, known);
  }
  const read = urlArguments(`${method} ${restBase}${path}`, schema, definition);
  return (segments, { search }) => ({ variables: read(segments, search) });
}

function restNamed(operation: Operation, label: string): Operation {
  const { names } = operation;
  return { ...operation, names: names && { ...names, style: "rest", label } };
}

function allowedMethods(operations: readonly RestOperation[]): string[] {
  const methods = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(methods)].toSorted();
}

function answer({ data, errors }: ExecutionResult, route: PreparedOperation, variables: Variables): RestAnswer {
  const [error] = errors ?? [];
  if (error === undefined) return { status: 200, body: shown(data?.[route.operation], route, variables) };
  const extensions = error.extensions as unknown as ErrorExtensions; // presentError() made them
  const problem = problemDetails(error.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

/** Omits the fields that are shown on demand only. */
function shown(body: unknown, { shownOnDemand }: PreparedOperation, variables: Variables): unknown {
  if (shownOnDemand === undefined || variables[shownOnDemand.argument] === shownOnDemand.value) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => !shownOnDemand.fields.includes(name)));
}
