import { type ASTNode, BREAK, type DocumentNode, Kind, visit } from "graphql";

/**
 * Whether graphql-jit 0.8 runs a document as graphql-js does. It does not where
 * - `__proto__` is a name: it keeps variables and results in ordinary objects, in which that is no member like others;
 * - a part with `@skip` or `@include` has a fragment in it: where the part's field is selected elsewhere too, the fragment's
 *   fields come in spite of the condition.
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
  return directives.length > 0; // operations have no others than these two
}

function isFragment({ kind }: ASTNode): boolean {
  return kind === Kind.FRAGMENT_SPREAD || kind === Kind.INLINE_FRAGMENT;
}

/** Whether a node, or one within it, is of that kind. */
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
