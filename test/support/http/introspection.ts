import { getIntrospectionQuery } from "graphql";

/** GraphQL's own introspection with everything that it can ask for. */
export const fullIntrospection = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});
