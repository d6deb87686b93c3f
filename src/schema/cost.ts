import type { FieldNode, GraphQLArgument, ValidationContext } from "graphql";
import { Kind } from "graphql";
import { firstByDefault, firstMax } from "./connections.js";

declare module "graphql" {
  // Merged with graphql's own, so that fields are typed where they say what they cost.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Items that a list without `first` ordinarily has at most: its fields cost as many times as much. */
    itemsExpected?: number;
    /** What the field itself costs, 1 if not given; 100 for a query of its own: tens in one operation are well, hundreds are not. */
    cost?: number;
  }
}

/** Items expected of introspection's lists, from what the schema has: 50 types, 150 fields of objects, 40 values of enums. */
const introspected: Readonly<Record<string, number>> = {
  "__Schema.types": 30,
  "__Type.fields": 5,
  "__Type.inputFields": 1,
  "__Type.enumValues": 2,
  "__Field.args": 1,
};

/** A list in pages is a query of its own. */
const pageCost = 100;

/** What a field itself costs, for each time that it is expected in the answer. */
export function ownCost(context: ValidationContext): number {
  const field = context.getFieldDef();
  if (field === undefined || field === null) return 1; // unknown: another rule refuses that
  return field.extensions.cost ?? (isPaged(field) ? pageCost : 1);
}

/** Whether a field is a list in pages. */
export function isPaged({ args }: { readonly args: readonly GraphQLArgument[] }): boolean {
  return args.some(({ name }) => name === "first");
}

/** Items expected of a field: the page asked for, where it is a list in pages, or what its field says. */
export function itemsExpected(context: ValidationContext, node: FieldNode): number {
  const field = context.getFieldDef();
  if (field === undefined || field === null) return 1; // unknown: another rule refuses that
  if (isPaged(field)) return pageSizeOf(node);
  return field.extensions.itemsExpected ?? introspected[`${context.getParentType()?.name}.${field.name}`] ?? 1;
}

function pageSizeOf({ arguments: given = [] }: FieldNode): number {
  const value = given.find(({ name }) => name.value === "first")?.value;
  if (value?.kind === Kind.VARIABLE) return firstMax;
  const first = value?.kind === Kind.INT ? Number(value.value) : firstByDefault;
  return Math.min(Math.max(first, 1), firstMax); // what is out of bounds is refused when it runs
}
