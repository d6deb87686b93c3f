import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  type SelectionSetNode,
} from "graphql";
import { AppError, type ErrorCode } from "../errors.js";
import type { PolicyName } from "./limits/policies.js";

/** Names for the access log, metrics and traces; they contain no values. */
export interface OperationNames {
  readonly style: "graphql" | "rest";
  readonly kind: `${OperationTypeNode}`;
  /** For example `query Shop: product, products`. */
  readonly label: string;
  /** Distinct root fields, as `Query.product`; `other` for introspection. */
  readonly fields: readonly string[];
}

/** Other names might be access tokens. */
const shownName = /^(?!.*vt_)\w{1,40}$/iu;
const fieldsShownMax = 5;

export function operationNames(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  { operation, name, selectionSet }: OperationDefinitionNode,
): OperationNames {
  const root = schema.getRootType(operation);
  const known = root?.getFields() ?? {};
  const fragments = new Map(
    definitions.flatMap((part) => (isFragment(part) ? [[part.name.value, part] as const] : [])),
  );
  const found = [...rootFields(selectionSet, fragments)].filter((field) => Object.hasOwn(known, field));
  const shown = found.length > fieldsShownMax ? [...found.slice(0, fieldsShownMax), "…"] : found;
  const named = name !== undefined && shownName.test(name.value) ? ` ${name.value}` : "";
  return {
    style: "graphql",
    kind: operation,
    label: `${operation}${named}${shown.length === 0 ? "" : `: ${shown.join(", ")}`}`,
    fields: found.length === 0 ? ["other"] : found.map((field) => `${root?.name}.${field}`),
  };
}

function isFragment(part: DocumentNode["definitions"][number]): part is FragmentDefinitionNode {
  return part.kind === Kind.FRAGMENT_DEFINITION;
}

function rootFields(
  selectionSet: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
  found = new Set<string>(),
): Set<string> {
  for (const selection of selectionSet.selections) {
    if (selection.kind === Kind.FIELD) found.add(selection.name.value);
    else if (selection.kind === Kind.INLINE_FRAGMENT) rootFields(selection.selectionSet, fragments, found);
    else {
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value); // fragments may be cyclic
      if (fragment !== undefined) rootFields(fragment.selectionSet, fragments, found);
    }
  }
  return found;
}

/** The fields that take an Idempotency-Key, as execution and REST name them. */
const importFields = ["importProduct", "importProducts", "importProductsCsv", "patchProducts"];

const takingKey: ReadonlySet<string> = new Set(importFields.map((name) => `Mutation.${name}`));

/** @param fields the root fields of a call, as `Mutation.importProduct` */
export function takesIdempotencyKey(fields: readonly string[]): boolean {
  return fields.some((field) => takingKey.has(field));
}

/** Refuses a call whose key would have no effect, because the call could be carried out twice. */
export function keyNotTaken(): AppError {
  const message = `This call takes no Idempotency-Key. Imports do: POST below /external/product/v1, and the mutations ${importFields.join(", ")}.`;
  return new AppError("BAD_REQUEST", message);
}

/** What ran an operation: Yoga with graphql-js, graphql-js alone, or code compiled by graphql-jit. */
export type Execution = "yoga" | "interpreted" | "compiled";

/** Feeds the access log, metrics and traces. Never throws. */
export interface Observation {
  begins(names: OperationNames, execution?: Execution): void;
  /** Not called for subscriptions, which end with their request. */
  ended(names: OperationNames, code: ErrorCode | undefined): void;
  refused(code: ErrorCode): void;
  limited(policy: PolicyName): void;
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result>;
  /** Replays are not counted as imports. */
  replayed(): void;
  recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result>;
}
