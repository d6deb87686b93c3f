import { type DocumentNode, GraphQLError, Kind, type OperationDefinitionNode } from "graphql";
import { AppError } from "../../errors.js";
import { isObject } from "../../lib/json/parseJson.js";
import { limits } from "../execution/validation/limits.js";
import { textTooLong } from "../execution/validation/parse.js";

/** GraphQL over HTTP, section 5.1. */
const known: ReadonlySet<string> = new Set(["query", "operationName", "variables", "extensions"]);

/**
 * Removes unknown members from a body, which must be ignored (GraphQL over HTTP, section 5.1), and an empty operation name, which some
 * clients send for none. Yoga would take a member `then` for a promise, and `status` and `headers` for a response.
 *
 * @returns the body itself if there is nothing to remove
 */
export function withoutUnknown(body: unknown): unknown {
  if (!isObject(body)) return body; // Yoga refuses it
  const members = Object.entries(body);
  const kept = members.filter(([name, value]) => known.has(name) && !(name === "operationName" && value === ""));
  return kept.length === members.length ? body : Object.fromEntries(kept);
}

/**
 * Checks that the name selects one of the document's operations. Uses the messages of graphql-js, because that of Yoga only says that it
 * found none.
 *
 * @throws {GraphQLError} with the status 400
 */
export function requireOperation({ definitions }: DocumentNode, operationName: unknown): void {
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string") return; // Yoga refuses it
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const message = operationProblem(operations as readonly OperationDefinitionNode[], operationName ?? "");
  if (message !== undefined) throw new GraphQLError(message, { extensions: { http: { status: 400 } } });
}

function operationProblem(operations: readonly OperationDefinitionNode[], name: string): string | undefined {
  if (operations.length === 0) return "Must provide an operation.";
  if (name !== "") {
    return operations.some((operation) => operation.name?.value === name)
      ? undefined
      : `Unknown operation named "${name}".`;
  }
  return operations.length > 1 ? "Must provide operation name if query contains multiple operations." : undefined;
}

/** @throws {AppError} BAD_REQUEST for a body without an operation */
export function requireQuery(body: unknown): void {
  if (!isObject(body)) return; // Yoga refuses it
  if (!("query" in body) || body["query"] === null) throw new AppError("BAD_REQUEST", "Must provide query string.");
}

/** Call this before looking up the operation. @throws {AppError} BAD_REQUEST */
export function refuseLongText(body: unknown): void {
  const query = isObject(body) ? body["query"] : undefined;
  if (typeof query === "string" && query.length > limits.textCharacters) throw new AppError("BAD_REQUEST", textTooLong);
}

/** Parameters of a query string. We ignore others, because clients add the name of an operation for logs. */
const inSearch = [...known, "documentId"];

/** @throws {AppError} BAD_REQUEST */
export function refuseRepeatedParameters(search: string): void {
  const given = new URLSearchParams(search);
  for (const name of inSearch) {
    const { length } = given.getAll(name);
    if (length > 1) throw new AppError("BAD_REQUEST", `${name} is given ${length} times, not once.`);
  }
}

/** Refuses invalid JSON in a query string, which Yoga would answer with 500. @throws {AppError} BAD_REQUEST */
export function refuseMalformedSearch(search: string): void {
  const given = new URLSearchParams(search);
  for (const name of ["variables", "extensions"]) {
    const value = given.get(name);
    if (value) requireJson(name, value);
  }
}

/** For a POST, whose body has the parameters. @throws {AppError} BAD_REQUEST */
export function refuseParametersBesideBody(search: string): void {
  const given = new URLSearchParams(search);
  const name = inSearch.find((one) => given.has(one));
  if (name !== undefined) throw new AppError("BAD_REQUEST", `${name} belongs in the body.`);
}

function requireJson(name: string, value: string): void {
  try {
    JSON.parse(value);
  } catch {
    throw new AppError("BAD_REQUEST", `The parameter ${name} is not valid JSON.`);
  }
}

/** Turns a GET's query string into the body of a POST. Check it by refuseMalformedSearch first. */
export function readSearch(search: string): unknown {
  const { variables, extensions, ...others } = Object.fromEntries(new URLSearchParams(search));
  return withoutUnknown({ ...others, ...parsed({ variables }), ...parsed({ extensions }) });
}

function parsed(member: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(
    Object.entries(member).flatMap(([name, json]) => (json ? [[name, JSON.parse(json) as unknown]] : [])),
  );
}
