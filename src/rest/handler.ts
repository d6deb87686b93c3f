import type { ExecutionResult, GraphQLSchema } from "graphql";
import { AppError } from "../errors.js";
import type { Context } from "../schema/context.js";
import { type ErrorExtensions } from "../schema/errors.js";
import { executeOperation } from "../execution/execute.js";
import { compiled, type Operation } from "../execution/operation.js";
import type { Variables } from "../execution/inputShape.js";
import type { JsonBody } from "../lib/json/body.js";
import { type Arguments, bodyArguments, decodeSegment, urlArguments } from "./arguments.js";
import type { RestOperation } from "./operations.js";
import { problemDetails, type ProblemDetails } from "./problemDetails.js";
import { restBase } from "./routes.js";

/** A REST operation found for a request. */
export interface RestCall {
  readonly operation: PreparedOperation;
  /** Path parameters, still percent-encoded. */
  readonly segments: Readonly<Record<string, string>>;
}

/** The answer to a REST call, not yet written. */
export type RestAnswer =
  | { readonly status: 200; readonly body: unknown }
  | { readonly status: number; readonly problem: ProblemDetails; readonly retryAfterSeconds: number | undefined };

interface PreparedOperation extends RestOperation {
  readonly prepared: Operation;
  /** The whole path, parameters by their names. */
  readonly route: string;
  readonly pattern: RegExp;
  readonly argumentNames: ReadonlySet<string>;
}

export interface RestHandler {
  /** @throws {AppError} NOT_FOUND, or METHOD_NOT_ALLOWED with the methods that are */
  find(method: string, path: string): RestCall;
  /** The arguments of a call without a body. @throws {AppError} for those that cannot be read */
  readUrl(call: RestCall, search: string): Arguments;
  /** Those of a POST, from its body alone. @throws {AppError} likewise */
  readBody(call: RestCall, body: JsonBody): Arguments;
  /** Whatever happens is answered. */
  run(call: RestCall, sent: Arguments, context: Context): Promise<RestAnswer>;
}

/** A wrong method on a path that exists. */
export class MethodNotAllowedError extends AppError {
  constructor(readonly allowed: readonly string[]) {
    super("METHOD_NOT_ALLOWED", `This path takes ${allowed.join(", ")}.`);
  }
}

/** Serves the documented paths. Everything about a route that can be known at start is worked out here, once. */
export function createRestHandler(schema: GraphQLSchema, operations: readonly RestOperation[]): RestHandler {
  const prepared = operations.map((operation) => prepare(schema, operation));
  return {
    find(method, path) {
      const wanted = method === "HEAD" ? "GET" : method;
      const others: PreparedOperation[] = [];
      for (const operation of prepared) {
        const match = operation.pattern.exec(path);
        if (match === null) continue;
        if (operation.method === wanted) return { operation, segments: match.groups ?? {} };
        others.push(operation);
      }
      if (others.length === 0) throw new AppError("NOT_FOUND", "There is nothing at this path.");
      throw new MethodNotAllowedError(allowedMethods(others));
    },
    readUrl: ({ operation: { argumentNames }, segments }, search) => {
      const parameters = Object.entries(segments).map(([name, segment]) => [name, decodeSegment(name, segment)]);
      const variables = urlArguments(Object.fromEntries(parameters) as Record<string, string>, search, argumentNames);
      return { variables };
    },
    readBody: ({ operation: { argumentNames } }, body) => bodyArguments(body, argumentNames),
    async run({ operation }, { variables, ...body }, context) {
      const within = body.bodyLength === undefined ? context : { ...context, ...body };
      const result = await executeOperation(operation.prepared, variables, within, { arraysOnly: true });
      return answer(result, operation, variables);
    },
  };
}

function prepare(schema: GraphQLSchema, operation: RestOperation): PreparedOperation {
  const pattern = new RegExp(`^${restBase}${operation.path.replaceAll(/:(\w+)/gu, "(?<$1>[^/]+)")}$`, "u");
  const prepared = restNamed(compiled(schema, operation.document, operation.operationName), operation.operation);
  const variables = prepared.definition?.variableDefinitions ?? [];
  const argumentNames = new Set(variables.map(({ variable }) => variable.name.value));
  return { ...operation, prepared, pattern, argumentNames, route: `${restBase}${operation.path}` };
}

/** sofa-api's name of the operation tells nobody anything. */
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
  const extensions = error.extensions as unknown as ErrorExtensions; // presentError made them
  const problem = problemDetails(error.message, extensions);
  return { status: problem.status, problem, retryAfterSeconds: extensions.retryAfterSeconds };
}

/** A body without the fields that nobody asked for. */
function shown(body: unknown, { shownOnDemand }: PreparedOperation, variables: Variables): unknown {
  if (shownOnDemand === undefined || variables[shownOnDemand.argument] === shownOnDemand.value) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => !shownOnDemand.fields.includes(name)));
}
