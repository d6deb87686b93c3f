import {
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLSchema,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { fieldsOf } from "./routes.js";
import type { RestRoute } from "./route.js";

export interface Selection {
  readonly document: DocumentNode;
  /** Of the root field and of fields in the answer, by the names of the operation's variables: the route's parameters. */
  readonly parameters: ReadonlyMap<string, GraphQLArgument>;
}

/**
 * Narrows an operation with all fields to those that a route answers with: the named ones of the types and fields that the
 * route names, and all of others. A field with arguments is kept only at the top of the answer, where its arguments are
 * parameters of the path, by their own names. Lists and other objects have such fields on paths of their own.
 *
 * @throws {Error} where two arguments have one name
 */
export function narrowed(schema: GraphQLSchema, document: DocumentNode, route: RestRoute): Selection {
  const kept = keepFields(schema, document, route);
  const parameters = new Map<string, GraphQLArgument>();
  const names = new Map<string, string>();
  const types = new TypeInfo(schema);
  visit(
    kept,
    visitWithTypeInfo(types, {
      Argument({ name: { value: name }, value }) {
        const argument = types.getArgument();
        if (value.kind !== Kind.VARIABLE || !argument) return;
        if (parameters.has(name)) throw new Error(`${route.path} has two arguments named ${name}.`);
        parameters.set(name, argument);
        names.set(value.name.value, name);
      },
    }),
  );
  const renamed = visit(kept, {
    VariableDefinition: ({ variable }) => (names.has(variable.name.value) ? undefined : null),
    Variable: {
      leave: (node) => ({ ...node, name: { ...node.name, value: names.get(node.name.value) ?? node.name.value } }),
    },
  });
  return { document: renamed, parameters };
}

function keepFields(schema: GraphQLSchema, document: DocumentNode, route: RestRoute): DocumentNode {
  const fields = fieldsOf(route);
  const types = new TypeInfo(schema);
  const around: string[] = []; // the fields around one, such as Query.storeAnalytics
  const isKept = ({ name: { value: name }, arguments: args = [] }: FieldNode): boolean => {
    const field = around.at(-1);
    if (field === undefined) return true;
    const named = fields[field] ?? fields[types.getParentType()?.name ?? ""];
    return (named?.includes(name) ?? true) && (around.length === 1 || args.length === 0);
  };
  return visit(
    document,
    visitWithTypeInfo(types, {
      Field: {
        enter(node) {
          if (!isKept(node)) return null;
          around.push(`${types.getParentType()?.name}.${node.name.value}`);
          return undefined;
        },
        leave: () => void around.pop(),
      },
    }),
  );
}
