import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  GraphQLError,
  type GraphQLSchema,
  isScalarType,
  Kind,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
  type SelectionSetNode,
  specifiedRules,
  validate,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  visitInParallel,
} from "graphql";
import { itemsExpected, ownCost } from "../../../schema/limits/cost.js";
import { definitionBeyond } from "./comparisons.js";
import { shownValue } from "../../../lib/mustBe.js";
import { clip } from "../../../lib/text.js";
import { leafName } from "../input/inputShape.js";

/** Limits of one operation; docs/requests.md has the same table. */
export const limits = {
  /** UTF-16 units: twice as many as 5,000 tokens usually have. */
  textCharacters: 100_000,
  /** Each validation error counts them up to its location. */
  lines: 3_000,
  /** 100 products written as literals have about 4,000; longer lists belong in variables. */
  tokens: 5_000,
  /** The schema's own have at most 21. */
  nameCharacters: 255,
  /** Nested fields. GraphiQL's introspection has 15, the schema's own types 4. */
  depth: 20,
  aliases: 300,
  rootFields: 300,
  /** Each may have `bulkProductsMax` products; they run one after the other. */
  imports: 5,
  directives: 50,
  /** Estimated fields in the answer: two full pages of 100 products, with nodes and edges, are about 7,000. */
  cost: 20_000,
  /** In the order of microseconds each: what meets in one place of the answer is compared in pairs (comparisons.ts). */
  comparisons: 50_000,
} as const;

interface Totals {
  depth: number;
  aliases: number;
  rootFields: number;
  imports: number;
  directives: number;
  cost: number;
}

const nothing: Totals = { depth: 0, aliases: 0, rootFields: 0, imports: 0, directives: 0, cost: 0 };

interface Spread {
  readonly name: string;
  readonly depth: number;
  readonly times: number;
}

interface Part {
  readonly definition: OperationDefinitionNode | FragmentDefinitionNode;
  readonly own: Totals;
  readonly spreads: Spread[];
}

const messages: Readonly<Record<keyof Totals, string>> = {
  depth: `An operation may be nested at most ${limits.depth} fields deep.`,
  aliases: `An operation may have at most ${limits.aliases} aliases.`,
  rootFields: `An operation may have at most ${limits.rootFields} root fields.`,
  imports: `An operation may have at most ${limits.imports} imports.`,
  directives: `An operation may have at most ${limits.directives} directives.`,
  cost: `An operation may cost at most ${limits.cost}: each field counts 1 for each item of the pages it is in.`,
};

/**
 * Every definition is read once, however often it is spread; fragments that no operation spreads are held to the limits
 * too, since other rules follow them.
 */
function limitsRule(context: ValidationContext): ASTVisitor {
  const parts: Part[] = [];
  let part: Part | undefined;
  /** How often the fields of a selection are expected in the answer: one entry for each field around it. */
  let times: number[] = [];

  const begin = (definition: Part["definition"]) => {
    part = { definition, own: { ...nothing }, spreads: [] };
    parts.push(part);
    times = [];
  };
  return {
    OperationDefinition: begin,
    FragmentDefinition: begin,
    Directive() {
      if (part !== undefined) part.own.directives += 1;
    },
    FragmentSpread(node) {
      part?.spreads.push({ name: node.name.value, depth: times.length, times: times.at(-1) ?? 1 });
    },
    Field: {
      enter(node) {
        if (part === undefined) return;
        const around = times.at(-1) ?? 1;
        if (times.length === 0) part.own.rootFields += 1;
        if (isImport(context, node)) part.own.imports += 1;
        if (node.alias !== undefined) part.own.aliases += 1;
        part.own.cost = bounded(part.own.cost + around * ownCost(context));
        times.push(bounded(around * itemsExpected(context, node)));
        part.own.depth = Math.max(part.own.depth, times.length);
      },
      leave: () => void times.pop(),
    },
    Document: { leave: () => report(context, parts) },
  };
}

/** Other rules may take long above the limits or with cyclic fragments. */
export const rulesFirst: readonly ValidationRule[] = [NoFragmentCyclesRule, limitsRule, unconditionalSubscriptionRule];

const maxErrors = 50;

const tooManyComparisons = `An operation may need at most ${limits.comparisons} comparisons of fields that meet in one place of the answer: select each once, with fewer fragments.`;

/** Other rules run only within the limits. */
export function validateBounded(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
  options?: { readonly hideSuggestions: boolean },
): readonly GraphQLError[] {
  const errors = validate(schema, document, rulesFirst);
  if (errors.length > 0) return errors;
  const nodes = definitionBeyond(document, limits.comparisons);
  if (nodes !== undefined) return [new GraphQLError(tooManyComparisons, { nodes })];
  return validate(schema, document, rules.map(withNames), { ...options, maxErrors });
}

function withNames(rule: ValidationRule): ValidationRule {
  return rule === ValuesOfCorrectTypeRule ? namedValuesRule : rule;
}

function report(context: ValidationContext, parts: readonly Part[]): void {
  const totalsOf = followSpreads(parts);
  for (const part of parts) {
    const totals = totalsOf(part);
    for (const limit of Object.keys(messages) as (keyof Totals)[]) {
      if (totals[limit] <= limits[limit]) continue;
      return context.reportError(new GraphQLError(messages[limit], { nodes: part.definition }));
    }
  }
}

function followSpreads(parts: readonly Part[]): (part: Part) => Totals {
  const fragments = new Map<string, Part>();
  for (const part of parts) {
    if (part.definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(part.definition.name.value, part);
  }
  const known = new Map<Part, Totals>();
  return function totalsOf(part: Part): Totals {
    const found = known.get(part);
    if (found !== undefined) return found;
    const totals = { ...part.own };
    known.set(part, part.own);
    for (const { name, depth, times } of part.spreads) {
      const fragment = fragments.get(name);
      if (fragment === undefined) continue; // unknown, which another rule refuses
      const spread = totalsOf(fragment);
      totals.depth = Math.max(totals.depth, depth + spread.depth);
      totals.aliases += spread.aliases;
      if (depth === 0) totals.rootFields += spread.rootFields;
      totals.imports += spread.imports;
      totals.directives += spread.directives;
      totals.cost = bounded(totals.cost + times * spread.cost);
    }
    known.set(part, totals);
    return totals;
  };
}

function isImport(context: ValidationContext, { name }: FieldNode): boolean {
  return /^(?:import|patch)/u.test(name.value) && context.getParentType() === context.getSchema().getMutationType();
}

function bounded(count: number): number {
  return Math.min(count, 1e15);
}

/** GraphQL's own rule for literals; scalars are refused with the name of the place, in the words that variables are. */
function namedValuesRule(context: ValidationContext): ASTVisitor {
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

/**
 * The root field of a subscription has no condition, since without its field a subscription has no source of values; graphql-js
 * 16 throws a TypeError then. The GraphQL specification has the same rule from its draft of 2024 on (5.2.4.1).
 */
function unconditionalSubscriptionRule(context: ValidationContext): ASTVisitor {
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
