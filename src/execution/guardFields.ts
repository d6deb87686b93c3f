import type { GraphQLField, GraphQLFieldResolver, GraphQLSchema } from "graphql";
import { defaultFieldResolver, isIntrospectionType, isObjectType } from "graphql";
import { AppError } from "../errors.js";
import type { Context } from "../schema/context.js";
import { isPaged } from "../schema/limits/cost.js";

declare module "graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Texts of kilobytes, which are charged to the answer's budget. */
    isLong?: boolean;
  }
}

type Field = GraphQLField<unknown, Context>;
type Resolver = GraphQLFieldResolver<unknown, Context>;

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
