import {
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  validate,
  type ValidationContext,
  type ValidationRule,
} from "graphql";
import { itemsExpected, ownCost } from "../schema/cost.js";

/** What one operation may have. docs/access.md has the same table. */
export const limits = {
  /** UTF-16 units of the whole text, looked at before anything else. The longest that 5,000 tokens ordinarily have is half. */
  textCharacters: 100_000,
  /** Lines of the whole text: each error that validation finds counts them up to its place. */
  lines: 3_000,
  /** Of the whole text. 100 products written out as literals have some 4,000; longer lists belong in variables. */
  tokens: 5_000,
  /** Of a field, variable, operation or anything else. The schema's own have 21 at most. */
  nameCharacters: 255,
  /** Fields within fields. GraphiQL's introspection has 15; the schema's own types nest 4 deep. */
  depth: 20,
  /** A dashboard asks for tens of shows at once; more than one field with the same name needs an alias for each. */
  aliases: 300,
  /** Each may be a query to the database. As many as aliases, without which they would be merged. */
  rootFields: 300,
  /** Each is worked on after the other, and may have `bulkProductsMax` products. */
  imports: 5,
  /** Clients put `@include` and `@skip` on some fields, not on all. */
  directives: 50,
  /** Fields in the answer, as estimated: two full pages of 100 products, with nodes and edges, are about 7,000. */
  cost: 20_000,
} as const;

/** What a selection comes to, with the fragments it spreads, each time it spreads them. */
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
  /** The fields it stands in, and how often they are expected in the answer. */
  readonly depth: number;
  readonly times: number;
}

/** An operation or a fragment, without what it spreads. */
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
 * Refuses operations above the limits. Every definition is read once, however often it is spread; fragments that no
 * operation spreads are held to the limits too, since other rules follow them.
 */
function limitsRule(context: ValidationContext): ASTVisitor {
  const parts: Part[] = [];
  let part: Part | undefined;
  /** How often the fields of the selection at hand are expected in the answer: one entry for each field around it. */
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

/** Come before the other rules: they may take long for what is above the limits, or for fragments in cycles. */
export const rulesFirst: readonly ValidationRule[] = [NoFragmentCyclesRule, limitsRule];

/** Errors that one answer lists. */
const maxErrors = 50;

/** Validates a document. What is above the limits, no other rule looks at. */
export function validateBounded(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules?: readonly ValidationRule[],
  options?: { readonly hideSuggestions: boolean },
): readonly GraphQLError[] {
  const errors = validate(schema, document, rulesFirst);
  return errors.length > 0 ? errors : validate(schema, document, rules, { ...options, maxErrors });
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

/** Adds up parts with what they spread. A fragment counts as nothing within itself: another rule refuses that. */
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
      if (fragment === undefined) continue; // unknown: another rule refuses that
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
  return name.value.startsWith("import") && context.getParentType() === context.getSchema().getMutationType();
}

/** Keeps products of many factors finite. */
function bounded(count: number): number {
  return Math.min(count, 1e15);
}
