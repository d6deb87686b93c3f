import { isNonNullType, Kind, typeFromAST } from "graphql";
import type { Problem } from "../../errors.js";
import type { Context } from "../../schema/context.js";
import { extensionsOf, presentError } from "../../schema/errors.js";
import type { Variables } from "./inputShape.js";
import type { Operation } from "../operation.js";

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
export async function importProblems(
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
