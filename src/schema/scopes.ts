import { AppError } from "../errors.js";

/** In the order in which lists show them. docs/access.md says what each allows. */
export const scopes = ["catalog:read", "catalog:write", "shows:write", "events:write", "analytics:read"] as const;

export type Scope = (typeof scopes)[number];

/** May contain scopes that a later version stored: they allow nothing here. */
export type Granted = ReadonlySet<string>;

/** The scope of calls that any valid token may make. */
export const anyToken = "anyToken";

/** What a call requires of its token. */
export type RequiredScope = Scope | typeof anyToken;

/** @throws {AppError} FORBIDDEN, naming the scope, whether or not the requested object exists */
export function requireScope(granted: Granted, scope: RequiredScope): void {
  if (scope !== anyToken && !granted.has(scope)) throw forbidden(scope);
}

export function forbidden(scope: Scope): AppError {
  return new AppError("FORBIDDEN", `The access token does not have the scope ${scope}.`);
}

declare module "graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** What a token needs for the field: api/execution/guardScopes.ts compiles it into the resolver at start. */
    scope?: RequiredScope;
  }
}
