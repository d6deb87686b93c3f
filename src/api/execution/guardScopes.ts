import {
  defaultFieldResolver,
  type DocumentNode,
  type FieldNode,
  getDirectiveValues,
  getVariableValues,
  GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import type { Context } from "../../schema/context.js";
import { forbidden, type RequiredScope, requireScope } from "../../schema/scopes.js";
import type { Variables } from "./input/inputShape.js";
import { AppError } from "../../errors.js";
import { isPaged } from "../../schema/limits/cost.js";

type Resolver = GraphQLFieldResolver<unknown, Context>;

/**
 * Compiles declared scopes into resolvers, in place: without its scope, a field is never resolved, in either style.
 *
 * @throws {Error} for a root field that declares none
 */
export function guardScopes(schema: GraphQLSchema): GraphQLSchema {
  const roots = new Set<unknown>([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, Context>[]) {
      const { scope } = field.extensions;
      if (scope === undefined && roots.has(type)) throw new Error(`${type.name}.${field.name} declares no scope.`);
      if (scope === undefined) continue;
      if (type === schema.getSubscriptionType()) field.subscribe &&= guarded(field.subscribe, scope);
      else field.resolve = guarded(field.resolve ?? defaultFieldResolver, scope);
    }
  }
  return schema;
}

function guarded(resolve: Resolver, scope: RequiredScope): Resolver {
  return (parent, args, context, info) => {
    requireScope(context.identity.scopes, scope);
    return resolve(parent, args, context, info);
  };
}

/** A field with the selections by whose directives it may be left out. */
export interface ScopedField {
  readonly scope: RequiredScope;
  readonly node: FieldNode;
  readonly conditions: readonly SelectionNode[];
}

/** The root fields of a mutation; none for other operations. */
export function scopedFields(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
): readonly ScopedField[] {
  if (operation !== OperationTypeNode.MUTATION) return [];
  const fields = schema.getMutationType()?.getFields() ?? {};
  const found: ScopedField[] = [];
  const collect = ({ selections }: SelectionSetNode, around: readonly SelectionNode[]): void => {
    for (const selection of selections) {
      const conditions = (selection.directives ?? []).length === 0 ? around : [...around, selection];
      if (selection.kind === Kind.FIELD) {
        const scope = fields[selection.name.value]?.extensions.scope;
        if (scope !== undefined) found.push({ scope, node: selection, conditions });
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, conditions);
      else {
        const { value: name } = selection.name;
        const fragment = definitions.find((part) => part.kind === Kind.FRAGMENT_DEFINITION && part.name.value === name);
        if (fragment?.kind === Kind.FRAGMENT_DEFINITION) collect(fragment.selectionSet, conditions);
      }
    }
  };
  collect(selectionSet, []);
  return found;
}

interface Scoped {
  readonly schema: GraphQLSchema;
  readonly definition: OperationDefinitionNode | undefined;
  readonly scopedFields: readonly ScopedField[];
}

/** Errors of a mutation's fields whose scope the token lacks: then none of its fields may run. */
export function refusedFields(
  { schema, definition, scopedFields: fields }: Scoped,
  variables: Variables,
  { identity }: Pick<Context, "identity">,
): GraphQLError[] {
  const errors = new Map<string, GraphQLError>();
  for (const { scope, node, conditions } of fields) {
    if (scope === "anyToken" || identity.scopes.has(scope)) continue;
    if (!isIncluded(conditions, schema, definition, variables)) continue;
    const path = [(node.alias ?? node.name).value];
    const originalError = forbidden(scope);
    const error = new GraphQLError(originalError.message, { nodes: [node], path, originalError });
    errors.set(path.join(), errors.get(path.join()) ?? error);
  }
  return [...errors.values()];
}

function isIncluded(
  conditions: readonly SelectionNode[],
  schema: GraphQLSchema,
  definition: OperationDefinitionNode | undefined,
  sent: Variables,
): boolean {
  if (conditions.length === 0) return true;
  const ofConditions = (definition?.variableDefinitions ?? []).filter(({ type }) => nameOf(type) === "Boolean");
  const { coerced: variables } = getVariableValues(schema, ofConditions, sent);
  return (
    variables === undefined || // invalid, so that the operation is refused anyway
    conditions.every(
      (selection) =>
        getDirectiveValues(GraphQLSkipDirective, selection, variables)?.["if"] !== true &&
        getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.["if"] !== false,
    )
  );
}

function nameOf(type: NonNullable<OperationDefinitionNode["variableDefinitions"]>[number]["type"]): string | undefined {
  if (type.kind === Kind.NON_NULL_TYPE) return nameOf(type.type);
  return type.kind === Kind.NAMED_TYPE ? type.name.value : undefined;
}

declare module "graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Texts of kilobytes, which are charged to the answer's budget. */
    isLong?: boolean;
  }
}

type Field = GraphQLField<unknown, Context>;

/**
 * Wraps a schema's resolvers, in place: root fields and pages do not start once the caller has disconnected, pages are
 * read one after the other and not once the answer is too large, and long texts count towards that.
 */
export function guardFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      if (type === schema.getSubscriptionType()) renewBudget(field);
      else if (type === schema.getMutationType()) field.resolve = explained(resolverOf(field));
      else guard(field, type === schema.getQueryType());
    }
  }
  return schema;
}

function guard(field: Field, isRoot: boolean): void {
  const resolve = resolverOf(field);
  if (isPaged(field)) field.resolve = pageOf(resolve);
  else if (isRoot) field.resolve = whileConnected(resolve);
  else if (field.extensions.isLong === true) field.resolve = counted(resolve);
}

function resolverOf({ resolve = defaultFieldResolver }: Field): Resolver {
  return resolve;
}

/** The error says so where the caller's token or store has ended meanwhile. */
function explained(resolve: Resolver): Resolver {
  return async (parent, args, context, info) => {
    requireCaller(context);
    try {
      return await resolve(parent, args, context, info);
    } catch (error) {
      throw await context.access.explain(error);
    }
  };
}

function whileConnected(resolve: Resolver): Resolver {
  return (parent, args, context, info) => {
    requireCaller(context);
    return resolve(parent, args, context, info);
  };
}

function pageOf(resolve: Resolver): Resolver {
  return (parent, args, context, info) =>
    context.limits.response.readPage(() => {
      requireCaller(context);
      context.limits.response.requireRoom();
      return resolve(parent, args, context, info);
    });
}

function counted(resolve: Resolver): Resolver {
  return (parent, args, context, info) => {
    const texts: unknown = resolve(parent, args, context, info);
    context.limits.response.charge(texts);
    return texts;
  };
}

function renewBudget(field: Field): void {
  const resolve = resolverOf(field);
  field.resolve = (parent, args, context, info) => {
    context.limits.response.renew();
    return resolve(parent, args, context, info);
  };
}

/** @throws {AppError} CLIENT_CLOSED_REQUEST */
function requireCaller({ access }: Context): void {
  if (access.isGone())
    throw new AppError("CLIENT_CLOSED_REQUEST", "The client closed the connection. The rest was not executed.");
}
