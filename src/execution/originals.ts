import { AppError } from "../errors.js";
import { newPlaceholder, parseUnparsed, type UnparsedValue } from "../lib/json/body.js";
import type { Context, Original } from "../schema/context.js";
import type { ImportVariable } from "./importVariables.js";
import type { Variables } from "./inputShape.js";
import type { Operation } from "./operation.js";

/** The most that the body of an operation may have which imports nothing. */
export const plainBodyBytesMax = 4 * 1024 * 1024;

interface WithOriginals {
  readonly variables: Variables;
  readonly originals: Context["originals"];
}

/**
 * Puts stand-ins in the place of what imports take as it was sent, and parses what else of the variables is not parsed yet.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE for a body that only an import may have, BAD_REQUEST for what is not JSON
 */
export async function withOriginals(
  { importVariables, definition }: Operation,
  sent: Variables,
  context: Context,
  arraysOnly: boolean,
): Promise<WithOriginals> {
  const { unparsed, bodyLength = 0 } = context;
  if (bodyLength > plainBodyBytesMax && importVariables.length === 0) throw plainBodyTooLarge();
  if (importVariables.length === 0 && (unparsed === undefined || unparsed.size === 0)) {
    return { variables: sent, originals: undefined };
  }
  const originals = new Map<string, Original>();
  const variables: Record<string, unknown> = { ...sent };
  for (const variable of importVariables) {
    const { name } = variable;
    if (!Object.hasOwn(sent, name)) continue;
    const value = sent[name];
    const unparsedValue = unparsed?.get(value as string);
    const original = originalOf(variable, value, unparsedValue, arraysOnly);
    if (original === undefined) {
      if (unparsedValue !== undefined) variables[name] = notOfThatKind;
      continue;
    }
    const placeholder = newPlaceholder();
    originals.set(placeholder, original);
    variables[name] = variable.standIn(placeholder);
  }
  for (const { variable } of definition?.variableDefinitions ?? []) {
    const name = variable.name.value;
    const value = Object.hasOwn(variables, name) ? unparsed?.get(variables[name] as string) : undefined;
    if (value === undefined) continue;
    if (bodyLength > plainBodyBytesMax) throw plainBodyTooLarge();
    variables[name] = await parseUnparsed(value);
  }
  return { variables, originals };
}

/** Undefined for a value that has not even the outer shape: that is left to be named as a problem. */
function originalOf(
  { kind }: ImportVariable,
  value: unknown,
  unparsed: UnparsedValue | undefined,
  arraysOnly: boolean,
): Original | undefined {
  const takesSingles = !arraysOnly;
  if (unparsed !== undefined) {
    const first = String.fromCharCode(unparsed.bytes[unparsed.start] ?? 0);
    const isTaken = firstCharacters[kind].includes(first) && (takesSingles || kind !== "list" || first === "[");
    return isTaken ? { unparsed, takesSingles } : undefined;
  }
  if (kind === "text" || value === undefined || value === null) return undefined;
  if (kind === "object" || Array.isArray(value)) return { value, takesSingles };
  return takesSingles ? { value: [value], takesSingles } : undefined;
}

/** In place of a long value that is no list, product or text: to be named as a problem without having been parsed. */
const notOfThatKind = 0;

/** How the JSON of what an import takes begins. */
const firstCharacters: Readonly<Record<ImportVariable["kind"], string>> = { list: "[{", object: "{", text: '"' };

/** The refusal of a larger one. */
export function plainBodyTooLarge(): AppError {
  const message = `The body of an operation that imports no products may have at most ${plainBodyBytesMax} bytes.`;
  return new AppError("PAYLOAD_TOO_LARGE", message);
}
