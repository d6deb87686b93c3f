import {
  type ASTNode,
  type ASTVisitor,
  getNamedType,
  GraphQLError,
  isScalarType,
  Kind,
  print,
  type ValidationContext,
  ValuesOfCorrectTypeRule,
  visitInParallel,
} from "graphql";
import { shownValue } from "../../lib/mustBe.js";
import { clip } from "../../lib/text.js";
import { leafName } from "../input/inputShape.js";

/** GraphQL's own rule for literals; scalars are refused with the name of the place, in the words that variables are. */
export function namedValuesRule(context: ValidationContext): ASTVisitor {
  let name = "";
  let current: ASTNode | undefined;
  const enter = (node: ASTNode) => {
    if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) name = node.name.value;
    if (node.kind === Kind.VARIABLE_DEFINITION) name = node.variable.name.value;
    current = node;
  };
  const reportError = (error: GraphQLError) => {
    const type = getNamedType(context.getInputType());
    const shown = current && shownLiteral(current);
    if (current === undefined || shown === undefined || !isScalarType(type)) return context.reportError(error);
    context.reportError(new GraphQLError(`${name} must be ${leafName(type)}, not ${shown}.`, { nodes: current }));
  };
  const named = Object.create(context, { reportError: { value: reportError } }) as ValidationContext;
  return visitInParallel([{ enter }, ValuesOfCorrectTypeRule(named)]);
}

/** Undefined for null, which GraphQL's message is about, and for what is no literal. */
function shownLiteral(node: ASTNode): string | undefined {
  switch (node.kind) {
    case Kind.STRING:
      return shownValue(node.value);
    case Kind.LIST:
      return "an array";
    case Kind.OBJECT:
      return "an object";
    case Kind.INT:
    case Kind.FLOAT:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return clip(print(node));
    default:
      return undefined;
  }
}
