import type { RequiredScope } from "../access/token.js";

export { forbidden, requireScope, type RequiredScope } from "../access/token.js";

declare module "graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** What a token needs for the field: execution/guardScopes.ts compiles it into the resolver at start. */
    scope?: RequiredScope;
  }
}
