import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from "graphql";

/**
 * Whether graphql-jit 0.8 is certain to execute an operation of a caller as graphql-js does. What is not certain is
 * interpreted, which is never wrong. The reports are issues of zalando-incubator/graphql-jit; those without a number have not
 * been reported. Excluded are
 * - mutations and subscriptions: after a failed root field, mutations go on differently;
 * - texts in the document: they become parts of the generated code, which runs some of them;
 * - directives: `@skip` and `@include` are applied to every place of a fragment's fields (#111, #118, #166), and null for a
 *   variable of `if` with a default is no error;
 * - variables inside objects and lists: an absent one becomes null (#91, #230), and null is accepted where the schema does
 *   not allow it;
 * - defaults of variables: they are ignored for types that are not null, and null is accepted for those that are not (#142);
 * - names that every object of JavaScript has: variables and results are ordinary objects;
 * - introspection, which is rarely repeated, and slow to compile.
 */
export function isCompilable(document: DocumentNode, { operation }: OperationDefinitionNode): boolean {
  return operation === OperationTypeNode.QUERY && !some(document, isUncertain);
}

function isUncertain(node: ASTNode): boolean {
  switch (node.kind) {
    case Kind.DIRECTIVE:
    case Kind.STRING:
      return true;
    case Kind.VARIABLE_DEFINITION:
      return node.defaultValue !== undefined;
    case Kind.OBJECT:
    case Kind.LIST:
      return some(node, ({ kind }) => kind === Kind.VARIABLE);
    case Kind.NAME:
      return node.value in Object.prototype || node.value === "__schema" || node.value === "__type";
    default:
      return false;
  }
}

function some(node: ASTNode, holds: (node: ASTNode) => boolean): boolean {
  let isFound = false;
  visit(node, {
    enter(within) {
      if (!holds(within)) return undefined;
      isFound = true;
      return BREAK;
    },
  });
  return isFound;
}
