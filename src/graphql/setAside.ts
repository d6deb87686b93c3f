import { randomUUID } from "node:crypto";
import {
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
} from "graphql";
import { isSoundValue } from "./soundness.js";
import type { Variables } from "./variables.js";

/** Variables of the right shape, and what was taken out of them, by the ticket that stands in its place. */
export interface SetAside {
  readonly variables: Variables;
  readonly aside: ReadonlyMap<string, unknown>;
}

/** What a field carries in its extensions: with this value of the argument, it deals with such items itself. */
interface SetsAside {
  readonly argument: string;
  readonly value: string;
}

/** What an input type carries in its extensions: a value of the type that holds a ticket, and is refused where that is not known. */
type StandIn = (ticket: string) => object;

/**
 * Puts a stand-in in the place of each item that has not the shape of its type, where the operation asks for the others all
 * the same: GraphQL would refuse the whole request for one of them. Undefined where it does not ask, or something else is
 * wrong too.
 */
export function setAside(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Variables,
  { arraysOnly }: { arraysOnly: boolean },
): SetAside | undefined {
  if (!asksForOthers(schema, operation, variables)) return undefined;
  const aside = new Map<string, unknown>();
  const sound: Record<string, unknown> = { ...variables };
  for (const { variable, type } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
    if (inputType === undefined || !Object.hasOwn(variables, name)) continue;
    sound[name] = withStandIns(inputType, variables[name], { arraysOnly, aside });
  }
  return aside.size === 0 ? undefined : { variables: sound, aside };
}

interface Within {
  readonly arraysOnly: boolean;
  readonly aside: Map<string, unknown>;
}

function withStandIns(type: GraphQLInputType, value: unknown, within: Within): unknown {
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (!isListType(nullable)) return value === undefined || value === null ? value : standIn(nullable, value, within);
  return Array.isArray(value) ? value.map((item: unknown) => standIn(nullable.ofType, item, within)) : value;
}

function standIn(type: GraphQLInputType, value: unknown, { arraysOnly, aside }: Within): unknown {
  const named = isNonNullType(type) ? type.ofType : type;
  const make = isInputObjectType(named) ? (named.extensions["standIn"] as StandIn | undefined) : undefined;
  if (make === undefined || isSoundValue(type, value, arraysOnly)) return value;
  const ticket = `\0${randomUUID()}`; // nobody who sends products can guess it
  aside.set(ticket, value);
  return make(ticket);
}

/** Whether a field of the operation, outside of fragments, deals with such items itself. */
function asksForOthers(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Variables): boolean {
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  return operation.selectionSet.selections.some((node) => {
    if (node.kind !== Kind.FIELD) return false;
    const wanted = fields[node.name.value]?.extensions["setsAside"] as SetsAside | undefined;
    const given = node.arguments?.find(({ name }) => name.value === wanted?.argument)?.value;
    return given !== undefined && valueOf(given, operation, variables) === wanted?.value;
  });
}

/** The value of an argument of an enum type. */
function valueOf(node: ValueNode, operation: OperationDefinitionNode, variables: Variables): unknown {
  if (node.kind === Kind.ENUM) return node.value;
  if (node.kind !== Kind.VARIABLE) return undefined;
  const name = node.name.value;
  if (Object.hasOwn(variables, name)) return variables[name];
  const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
  return definition?.defaultValue?.kind === Kind.ENUM ? definition.defaultValue.value : undefined;
}
