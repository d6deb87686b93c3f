import { AppError, errorAt } from "../errors.js";

/** The order is that of lists; docs/access.md has a table of what each allows. */
export const scopes = ["catalog:read", "catalog:write", "shows:write", "events:write", "analytics:read"] as const;

export type Scope = (typeof scopes)[number];

/** May contain unknown scopes, which a later version stored and which allow nothing. */
export type Granted = ReadonlySet<string>;

/** The scope of calls that any valid token may make. */
export const anyToken = "anyToken";

/** What a call requires of its token. */
export type RequiredScope = Scope | typeof anyToken;

/** @throws {AppError} FORBIDDEN, naming the scope, whether or not what was asked for exists */
export function requireScope(granted: Granted, scope: RequiredScope): void {
  if (scope !== anyToken && !granted.has(scope)) throw forbidden(scope);
}

export function forbidden(scope: Scope): AppError {
  return new AppError("FORBIDDEN", `The access token does not have the scope ${scope}.`);
}

/**
 * Ordered, without duplicates; all of them if none is given.
 *
 * @throws {AppError} VALIDATION_FAILED for an unknown one
 */
export function parseScopes(given: readonly string[] = []): Scope[] {
  const unknown = given.find((name) => !(scopes as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw errorAt("VALIDATION_FAILED", `scope must be one of ${scopes.join(", ")}.`, ["scope"]);
  }
  return given.length === 0 ? [...scopes] : scopes.filter((scope) => given.includes(scope));
}
