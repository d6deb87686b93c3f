import { anyToken, type Scope, scopes } from "../access/scopes.js";

export { forbidden, requireScope } from "../access/scopes.js";

/** A field declares one of them beside its type: `authScopes: { "catalog:read": true }`. */
export type AuthScopes = Readonly<Record<Scope | typeof anyToken, boolean>>;

const known: ReadonlySet<string> = new Set([...scopes, anyToken]);

/**
 * Undefined for a field that declares none.
 *
 * @throws {Error} for anything but one known scope: execution/guardScopes.ts compiles the declarations at start
 */
export function scopeOf({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }) {
  const { authScopes } = (extensions["pothosOptions"] ?? {}) as { readonly authScopes?: unknown };
  if (authScopes === undefined) return undefined;
  const [declared, ...others] = Object.entries(authScopes as Readonly<Record<string, unknown>>);
  const [name, isRequired] = declared ?? [];
  if (name === undefined || isRequired !== true || others.length > 0 || !known.has(name)) {
    throw new Error(`authScopes must be one scope, such as { "catalog:read": true }.`);
  }
  return name as Scope | typeof anyToken;
}
