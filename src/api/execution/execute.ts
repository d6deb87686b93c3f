import { setImmediate } from "node:timers/promises";
import { type ExecutionResult, GraphQLError, isNonNullType, Kind, OperationTypeNode, typeFromAST } from "graphql";
import { type Problem, Problems } from "../../errors.js";
import { refusedFields } from "./guardScopes.js";
import type { Context, Sent } from "../../schema/context.js";
import { endSharedReads } from "../../schema/limits/sharedReads.js";
import { keyNotTaken, takesIdempotencyKey } from "../../schema/operationNames.js";
import { codeOf, extensionsOf, presentError } from "../../schema/publicErrors.js";
import type { Operation } from "./operation.js";
import type { Variables } from "./input/inputShape.js";
import { plainBodyBytesMax, withOriginals, withoutChecked } from "./input/rawInputs.js";
import { responseBytesMax, responseTooLarge } from "../../schema/limits/responseBudget.js";

interface ExecuteOptions {
  /** What runs the operation, if it is not the operation itself. */
  readonly execution?: "yoga";
  /** Whether a single value is no list of one, as in REST. */
  readonly arraysOnly?: boolean;
  /** Problems of the request, answered with those of its variables. */
  readonly found?: Problems;
}

/** The pipeline of both styles: checks variables, executes, presents errors. Never rejects. */
export async function executeOperation(
  operation: Operation,
  variables: Variables,
  context: Context,
  options: ExecuteOptions = {},
): Promise<ExecutionResult> {
  const { names } = operation;
  if (names === undefined) return perform(operation, variables, context, options);
  const { observation } = context;
  observation.begins(names, options.execution ?? operation.execution);
  const result = await observation.within(names.label, () => perform(operation, variables, context, options));
  observation.ended(names, result.errors === undefined ? undefined : codeOf(result.errors));
  return result;
}

async function perform(
  operation: Operation,
  sent: Variables,
  context: Context,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  try {
    const confirming = context.access.confirmSometimes();
    if (confirming !== undefined) await confirming;
    requireKeyTaken(operation, context);
    const isMutation = operation.definition?.operation === OperationTypeNode.MUTATION;
    const run = isMutation ? performMutation : isParsed(context) ? performRead : performLongRead;
    return await run(operation, sent, context, options);
  } catch (error) {
    return { errors: [presentError(error, context)] };
  }
}

/** Whether all of the body was parsed when it arrived, as bodies of reads are, unless they are long. */
function isParsed({ sent: { unparsed, bodyLength = 0 } }: Context): boolean {
  return unparsed === undefined && bodyLength <= plainBodyBytesMax;
}

async function performRead(
  operation: Operation,
  variables: Variables,
  context: Context,
  { arraysOnly = false, found }: ExecuteOptions,
): Promise<ExecutionResult> {
  problemsOf(operation, variables, arraysOnly, found)?.throwIfAny();
  return runOperation(operation.run, variables, context);
}

async function performLongRead(
  operation: Operation,
  sent: Variables,
  context: Context,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  const { variables } = await withOriginals(operation, sent, context, options.arraysOnly === true);
  return performRead(operation, variables, context, options);
}

/** Imports take values as they were sent, and other mutations take what was checked without a copy. */
async function performMutation(
  operation: Operation,
  sent: Variables,
  context: Context,
  { arraysOnly = false, found }: ExecuteOptions,
): Promise<ExecutionResult> {
  const refused = refusedFields(operation, sent, context);
  if (refused.length > 0) return { errors: refused.map((error) => presentError(error, context)), data: null };
  const own = { ...context, db: context.access.dbToWrite() };
  const read = await withOriginals(operation, sent, context, arraysOnly);
  const problems = problemsOf(operation, read.variables, arraysOnly, found);
  if (problems !== undefined) {
    problems.addAll(await importProblems(operation, read.variables, within(own, read), problems));
    problems.throwIfAny();
  }
  const passed = withoutChecked(operation, read);
  const running = runOperation(operation.run, passed.variables, within(own, passed));
  const result = await running.finally(() => endSharedReads(context));
  return isRefusedShape(operation, result) ? asRequestError(result) : result;
}

/** @throws {AppError} BAD_REQUEST for a key of an operation that takes none */
function requireKeyTaken({ names }: Operation, { sent }: Context): void {
  if (sent.idempotency !== undefined && names && !takesIdempotencyKey(names.fields)) throw keyNotTaken();
}

function within(context: Context, { originals }: Pick<Sent, "originals">): Context {
  return originals === undefined ? context : { ...context, sent: { ...context.sent, originals } };
}

/** Problems of shape, after those found before. */
function problemsOf(
  { shape }: Operation,
  variables: Variables,
  arraysOnly: boolean,
  found = new Problems(),
): Problems | undefined {
  const isValid = shape === undefined || shape.isValid(variables, arraysOnly);
  if (isValid && found.total === 0) return undefined;
  const problems = new Problems();
  if (!isValid) shape.collect(variables, arraysOnly, problems);
  if (found.total === 0) return problems;
  const reported = new Set(found.list.map(({ path }) => path.join("\0")));
  const list = problems.list.filter(({ path }) => !reported.has(path.join("\0")));
  const all = new Problems();
  all.addAll(found);
  all.addAll({ list, total: problems.total - (problems.list.length - list.length) });
  return all;
}

async function runOperation(run: Operation["run"], variables: Variables, context: Context): Promise<ExecutionResult> {
  const result = await run(variables, context);
  context.limits.response.requireRoom();
  await writeIfLarge(result);
  if (result.errors === undefined) return result;
  const { data } = result;
  return { errors: result.errors.map((error) => presentError(error, context)), ...(data !== undefined && { data }) };
}

/** Missing values count, blank ones do not. */
function isOfShape({ code, message }: Problem): boolean {
  return (
    code === "INVALID_TYPE" || code === "UNKNOWN_FIELD" || (code === "REQUIRED" && message.endsWith("is required."))
  );
}

/** An operation's only import found products of a wrong shape, which GraphQL would have refused before execution. */
function isRefusedShape({ importVariables, definition }: Operation, { data, errors = [] }: ExecutionResult): boolean {
  const [error] = errors;
  if (error === undefined || errors.length > 1 || Object.values(data ?? {}).some((value) => value !== null))
    return false;
  if (definition?.selectionSet.selections.length !== 1 || !importVariables.some(({ kind }) => kind !== "text"))
    return false;
  const { code, errors: problems } = extensionsOf(error);
  return code === "VALIDATION_FAILED" && problems.some(isOfShape);
}

/** A request error: without data and path. */
function asRequestError({ errors = [] }: ExecutionResult): ExecutionResult {
  return { errors: errors.map(({ message, extensions }) => new GraphQLError(message, { extensions })) };
}

interface Found {
  readonly list: readonly Problem[];
  readonly total: number;
}

const none: Found = { list: [], total: 0 };

/**
 * What is wrong with the products of an operation that is refused for other reasons, so that one answer names all.
 * Invalid variables are left out, and nothing is stored.
 *
 * @returns nothing for operations that do more than one import, or cannot be executed
 */
async function importProblems(
  operation: Operation,
  variables: Variables,
  context: Context,
  { list }: Found,
): Promise<Found> {
  const [selection, ...others] = operation.definition?.selectionSet.selections ?? [];
  if (selection?.kind !== Kind.FIELD || others.length > 0 || operation.importVariables.length === 0) {
    return none;
  }
  const invalid = new Set(list.map(({ path: [name] }) => name));
  if (!canDoWithout(operation, invalid)) return none;
  const valid = Object.fromEntries(Object.entries(variables).filter(([name]) => !invalid.has(name)));
  const checking = { ...context, sent: { ...context.sent, isCheckOnly: true } };
  const { errors: [error] = [] } = await operation.run(valid, checking);
  if (error === undefined) return none;
  const { code, errors, errorsTotal } = extensionsOf(presentError(error, context));
  return code === "VALIDATION_FAILED" ? { list: errors, total: errorsTotal } : none;
}

function canDoWithout({ schema, definition }: Operation, invalid: ReadonlySet<string | number | undefined>): boolean {
  return (definition?.variableDefinitions ?? []).every(
    ({ variable, type, defaultValue }) =>
      !invalid.has(variable.name.value) ||
      defaultValue !== undefined ||
      !isNonNullType(typeFromAST(schema, type as never)),
  );
}

const largeFrom = 128 * 1024;

/** What is written in one turn of the event loop: a few milliseconds. */
const turnBytes = 512 * 1024;

/** Answers as bytes, because encoding megabytes of text also takes long. */
const written = new WeakMap<object, readonly Buffer[]>();

/**
 * Serializes a large result in pieces, between which other requests run; resultText() joins them. Undefined for small
 * ones.
 *
 * @throws {AppError} RESPONSE_TOO_LARGE, also as a rejection
 */
export function writeIfLarge({ data }: ExecutionResult): Promise<void> | undefined {
  if (data === undefined || data === null) return undefined;
  const room = roomAfter(data, responseBytesMax);
  if (room < 0) throw responseTooLarge();
  return responseBytesMax - room < largeFrom ? undefined : write(data);
}

export function resultText(result: ExecutionResult): string | Buffer {
  const data = isWritten(result) ? written.get(result.data) : undefined;
  if (data === undefined) return JSON.stringify(result);
  const parts: (readonly Buffer[])[] = [];
  for (const [name, value] of Object.entries(result) as [string, unknown][]) {
    if (value === undefined || typeof value === "function") continue; // as JSON.stringify does
    const before = `${parts.length === 0 ? "{" : ","}${JSON.stringify(name)}:`;
    parts.push([Buffer.from(before)], name === "data" ? data : [Buffer.from(JSON.stringify(value))]);
  }
  return Buffer.concat([...parts.flat(), Buffer.from("}")]);
}

export function isWritten(result: ExecutionResult): result is ExecutionResult & { readonly data: object } {
  return typeof result.data === "object" && result.data !== null && written.has(result.data);
}

async function write(data: object): Promise<void> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let turnAt = turnBytes;
  for (const piece of piecesOf(data)) {
    const encoded = Buffer.from(piece);
    pieces.push(encoded);
    bytes += encoded.length;
    if (bytes > responseBytesMax) throw responseTooLarge();
    if (bytes < turnAt) continue;
    turnAt = bytes + turnBytes;
    await setImmediate();
  }
  written.set(data, pieces);
}

/** The JSON of plain objects, arrays and scalars, in small pieces. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null || roomAfter(value, largeFrom) >= 0) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    let before = "[";
    for (const item of value) {
      yield before;
      yield* piecesOf(item);
      before = ",";
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(member);
      before = ",";
    }
    yield "}";
  }
}

/** The room that is left at best once a value is serialized; stops below zero. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length - 2;
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = roomAfter(item, left - 1);
      if (left < 0) return left;
    }
    return left;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    left = roomAfter(members[name], left - name.length - 3);
    if (left < 0) return left;
  }
  return left;
}
