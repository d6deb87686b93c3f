import { AppError } from "../../../errors.js";
import { newPlaceholder, parseUnparsed, type UnparsedValue } from "../../../lib/json/jsonBody.js";
import type { Context, Original, Sent } from "../../../schema/context.js";
import type { TakenVariable, Operation } from "../operation.js";
import type { Variables } from "./inputShape.js";

export const plainBodyBytesMax = 4 * 1024 * 1024;

interface WithOriginals {
  readonly variables: Variables;
  readonly originals: Sent["originals"];
}

/**
 * Replaces values that imports read in their original form with placeholders, and parses other unparsed variables.
 *
 * @throws {AppError} PAYLOAD_TOO_LARGE for a body that only an import may have, BAD_REQUEST for invalid JSON
 */
export async function withOriginals(
  { importVariables, definition }: Operation,
  sent: Variables,
  { sent: { unparsed = nothing, bodyLength = 0 } }: Pick<Context, "sent">,
  arraysOnly: boolean,
): Promise<WithOriginals> {
  const isTooLong = bodyLength > plainBodyBytesMax;
  if (importVariables.length === 0) {
    if (isTooLong) throw plainBodyTooLarge();
    if (unparsed.size === 0) return { variables: sent, originals: undefined };
  }
  const { variables, originals } = takeOriginals(importVariables, sent, unparsed, arraysOnly);
  for (const { variable } of definition?.variableDefinitions ?? []) {
    const name = variable.name.value;
    const value = Object.hasOwn(variables, name) ? unparsed.get(variables[name] as string) : undefined;
    if (value === undefined) continue;
    if (isTooLong) throw plainBodyTooLarge();
    variables[name] = await parseUnparsed(value);
  }
  return { variables, originals };
}

const nothing: NonNullable<Sent["unparsed"]> = new Map();

function takeOriginals(
  importVariables: readonly TakenVariable[],
  sent: Variables,
  unparsed: NonNullable<Sent["unparsed"]>,
  arraysOnly: boolean,
) {
  const originals = new Map<string, Original>();
  const variables: Record<string, unknown> = { ...sent };
  for (const variable of importVariables) {
    const { name } = variable;
    if (!Object.hasOwn(sent, name)) continue;
    const value = sent[name];
    const unparsedValue = unparsed.get(value as string);
    const original = originalOf(variable, value, unparsedValue, arraysOnly);
    if (original === undefined) {
      if (unparsedValue !== undefined) variables[name] = invalidValue;
      continue;
    }
    const placeholder = newPlaceholder();
    originals.set(placeholder, original);
    variables[name] = variable.placeholderValue(placeholder);
  }
  return { variables, originals };
}

/** Replaces values whose shape has been checked with placeholders: GraphQL would copy each, for a third of a batch's time. */
export function withoutChecked(
  { checkedVariables }: Operation,
  { variables, originals }: WithOriginals,
): WithOriginals {
  // Null is left to GraphQL, which refuses it where the argument does not take it: a variable with a default may be null.
  const checked = checkedVariables.filter(({ name }) => Object.hasOwn(variables, name) && variables[name] !== null);
  if (checked.length === 0) return { variables, originals };
  const replaced: Record<string, unknown> = { ...variables };
  const all = new Map(originals);
  for (const { name, placeholderValue } of checked) {
    const placeholder = newPlaceholder();
    all.set(placeholder, { value: variables[name], takesSingles: true });
    replaced[name] = placeholderValue(placeholder);
  }
  return { variables: replaced, originals: all };
}

/** Undefined for a wrong kind, which the shape check reports. */
function originalOf(
  { kind }: TakenVariable,
  value: unknown,
  unparsed: UnparsedValue | undefined,
  arraysOnly: boolean,
): Original | undefined {
  const takesSingles = !arraysOnly;
  if (unparsed !== undefined) {
    const { first } = unparsed;
    const isTaken = firstCharacters[kind].includes(first) && (takesSingles || kind !== "list" || first === "[");
    return isTaken ? { unparsed, takesSingles } : undefined;
  }
  if (kind === "text" || value === undefined || value === null) return undefined;
  if (kind === "object" || Array.isArray(value)) return { value, takesSingles };
  return takesSingles ? { value: [value], takesSingles } : undefined;
}

/** Stands for a long value of a wrong kind, so that the shape check reports it unparsed. */
const invalidValue = 0;

const firstCharacters: Readonly<Record<TakenVariable["kind"], string>> = { list: "[{", object: "{", text: '"' };

export function plainBodyTooLarge(): AppError {
  const message = `The body of an operation that imports no products may have at most ${plainBodyBytesMax} bytes.`;
  return new AppError("PAYLOAD_TOO_LARGE", message);
}
