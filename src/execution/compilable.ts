import { type ASTNode, BREAK, type DocumentNode, Kind, visit } from "graphql";

/**
 * Whether graphql-jit 0.8 executes a document as graphql-js does. It does not if
 * - `__proto__` is a name, because it keeps variables and results in ordinary objects;
 * - a selection with `@skip` or `@include` contains a fragment: if its field is also selected elsewhere, the fragment's
 *   fields are included in spite of the condition.
 */
export function isCompilable(document: DocumentNode): boolean {
  return document.loc?.source.body.includes("__proto__") !== true && !hasFragmentUnderCondition(document);
}

function hasFragmentUnderCondition(document: DocumentNode): boolean {
  const definitionOf = (name: string) =>
    document.definitions.find((part) => part.kind === Kind.FRAGMENT_DEFINITION && part.name.value === name);
  return some(document, (node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const fragment = isConditional(node) ? definitionOf(node.name.value) : undefined;
      return fragment !== undefined && some(fragment, isFragment);
    }
    if (node.kind !== Kind.FIELD && node.kind !== Kind.INLINE_FRAGMENT) return false;
    return isConditional(node) && node.selectionSet !== undefined && some(node.selectionSet, isFragment);
  });
}

function isConditional({ directives = [] }: { readonly directives?: readonly unknown[] | undefined }): boolean {
  return directives.length > 0; // there are no others than these two
}

function isFragment({ kind }: ASTNode): boolean {
  return kind === Kind.FRAGMENT_SPREAD || kind === Kind.INLINE_FRAGMENT;
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
