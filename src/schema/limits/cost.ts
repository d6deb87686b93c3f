import type { FieldNode, GraphQLArgument, GraphQLField, ValidationContext } from "graphql";
import { Kind } from "graphql";
import { firstMax } from "../connections.js";

declare module "graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The usual maximum length of a list without `first`, or whose `first` is a variable, which multiplies the cost of its fields. */
    itemsExpected?: number;
    /** 1 by default; 100 for a separate database query. */
    cost?: number;
  }
  interface GraphQLArgumentExtensions {
    /** The largest `first`. */
    firstMax?: number;
  }
}

/** Expected lengths of lists of introspection: at least half of the 70 types, 210 fields of objects and 110 enum values. */
const introspected: Readonly<Record<string, number>> = {
  "__Schema.types": 30,
  "__Type.fields": 5,
  "__Type.inputFields": 1,
  "__Type.enumValues": 4,
  "__Field.args": 1,
};

const pageCost = 100;

export function ownCost(context: ValidationContext): number {
  const field = context.getFieldDef();
  if (field === undefined || field === null) return 1; // unknown, which another rule refuses
  return field.extensions.cost ?? (isPaged(field) ? pageCost : 1);
}

interface Paged {
  readonly args: readonly GraphQLArgument[];
}

export function isPaged({ args }: Paged): boolean {
  return args.some(({ name }) => name === "first");
}

export function itemsExpected(context: ValidationContext, node: FieldNode): number {
  const field = context.getFieldDef();
  if (field === undefined || field === null) return 1; // unknown, which another rule refuses
  if (isPaged(field)) return pageSizeOf(field, node);
  return field.extensions.itemsExpected ?? introspected[`${context.getParentType()?.name}.${field.name}`] ?? 1;
}

function pageSizeOf(
  { args, extensions }: GraphQLField<unknown, unknown>,
  { arguments: given = [] }: FieldNode,
): number {
  const argument = args.find(({ name }) => name === "first");
  const max = argument?.extensions.firstMax ?? firstMax;
  const value = given.find(({ name }) => name.value === "first")?.value;
  if (value?.kind === Kind.VARIABLE) return extensions.itemsExpected ?? max;
  const byDefault = Number(argument?.defaultValue ?? firstMax);
  const first = value?.kind === Kind.INT ? Number(value.value) : byDefault;
  return Math.min(Math.max(first, 1), max); // others are refused at execution
}
