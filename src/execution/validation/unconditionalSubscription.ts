import {
  type ASTVisitor,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
} from "graphql";

/**
 * The root field of a subscription has no condition, since without its field a subscription has no source of values; graphql-js
 * 16 throws a TypeError then. The GraphQL specification has the same rule from its draft of 2024 on (5.2.4.1).
 */
export function unconditionalSubscriptionRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition({ operation, selectionSet }) {
      if (operation !== OperationTypeNode.SUBSCRIPTION || !hasCondition(context, selectionSet, new Set())) return;
      const message = "The field of a subscription must not have @skip or @include.";
      context.reportError(new GraphQLError(message, { nodes: selectionSet }));
    },
  };
}

/** @param followed fragments, which may be cyclic */
function hasCondition(
  context: ValidationContext,
  { selections }: SelectionSetNode,
  followed: Set<FragmentDefinitionNode>,
): boolean {
  return selections.some((selection) => {
    if ((selection.directives ?? []).length > 0) return true;
    if (selection.kind === Kind.FIELD) return false;
    if (selection.kind === Kind.INLINE_FRAGMENT) return hasCondition(context, selection.selectionSet, followed);
    const fragment = context.getFragment(selection.name.value);
    if (fragment === undefined || fragment === null || followed.has(fragment)) return false;
    followed.add(fragment);
    return hasCondition(context, fragment.selectionSet, followed);
  });
}
