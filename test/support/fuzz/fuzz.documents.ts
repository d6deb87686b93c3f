import * as fc from "fast-check";
import {
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  type GraphQLArgument,
  isNonNullType,
} from "graphql";
import { Choices } from "./choices.js";
import { texts } from "./fuzz.values.js";

/** A GraphQL request whose operation is valid, or nearly. */
export interface GeneratedRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: unknown;
}

/** Names that objects of the program have by themselves. */
const names = [
  "a",
  "b",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "then",
  "valueOf",
  "length",
  "Query",
  "on",
];

/** Queries of any fields of the schema, with aliases, fragments, directives, literals and variables. */
export function requestsOf(schema: GraphQLSchema): fc.Arbitrary<GeneratedRequest> {
  return fc
    .tuple(fc.array(fc.nat(), { maxLength: 120, size: "max" }), fc.array(texts, { minLength: 3, maxLength: 3 }))
    .map(([numbers, [id = "", after = "", search = ""]]) => {
      const choices = new Choices(numbers);
      const name = choices.of(names as [string, ...string[]]);
      const [variable, flag] = [
        choices.of(names as [string, ...string[]]),
        choices.of(["$f", "$prototype", "$propertyIsEnumerable"]),
      ];
      const parameters = `($${variable}: String = "a", ${flag}: Boolean = true)`;
      const scope = { choices, literals: [id, after, search], text: `$${variable}`, flag };
      const body = selectionOf(schema.getQueryType() ?? undefined, 0, scope);
      const used = `${name}${parameters} { ${body} use: product(productId: ${scope.text}) @include(if: ${scope.flag}) { id } }`;
      const given = JSON.parse(
        `{"${variable}":${JSON.stringify(id)},"${flag.slice(1)}":${choices.of(["true", "false"])}}`,
      );
      return {
        query: `query ${used}`,
        ...(choices.upTo(3) === 0 && { operationName: choices.of([name, "other", "__proto__"]) }),
        ...(choices.upTo(3) > 0 && { variables: given }),
      };
    });
}

interface Scope {
  readonly choices: Choices;
  readonly literals: readonly string[];
  readonly text: string;
  readonly flag: string;
}

function selectionOf(type: GraphQLOutputType | undefined, depth: number, scope: Scope): string {
  if (type === undefined || !isObjectType(type)) return "__typename";
  const { choices, flag } = scope;
  const fields = Object.values(type.getFields());
  const count = 1 + choices.upTo(4);
  const parts = Array.from({ length: count }, () => {
    const field = fields[choices.upTo(fields.length)];
    if (field === undefined) return "__typename";
    const inner = getNamedType(field.type);
    const selection = isObjectType(inner)
      ? ` { ${depth < 4 ? selectionOf(inner, depth + 1, scope) : "__typename"} }`
      : "";
    // Each place has its own alias, or fields with other arguments would conflict.
    const alias = choices.upTo(2) === 0 ? "" : `${choices.of(names as [string, ...string[]])}: `;
    const directive = choices.of(["", "", "", ` @include(if: ${flag})`, ` @skip(if: ${flag})`, ` @include(if: true)`]);
    const written = `${alias}${field.name}${argumentsOf(field.args, scope)}${directive}${selection}`;
    return choices.of([
      written,
      written,
      written,
      `... on ${type.name} { ${written} }`,
      `... { ${written} }`,
      "__typename",
    ]);
  });
  return parts.join(" ");
}

function argumentsOf(args: readonly GraphQLArgument[], scope: Scope): string {
  const { choices, literals, text } = scope;
  const given = args.filter(({ type }) => isNonNullType(type) || choices.upTo(3) === 0);
  if (given.length === 0) return "";
  const strings = [text, '"a"', '"show"', ...literals.map((literal) => JSON.stringify(literal)), '"""block"""', "null"];
  const written = given.map(({ name, type }) => {
    const values: Record<string, readonly string[]> = {
      String: strings,
      Int: ["1", "0", "100", "101", "60", "-1", "2147483648", "1.0", "null"],
      Boolean: ["true", "false", "null", scope.flag],
      LiveStreamStatus: ["LIVE", "ENDED", "LOST", '"LIVE"', "null"],
    };
    const among = values[getNamedType(type).name] ?? ["null"];
    return `${name}: ${among[choices.upTo(among.length)] ?? "null"}`;
  });
  return `(${written.join(", ")})`;
}

/** What may happen to the text of an operation; mostly nothing. */
export function garbled(query: string): fc.Arbitrary<string> {
  const pieces = query.split(/(?<=[\s{}():,$!])/u);
  const at = fc.nat(pieces.length);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(query) },
    { weight: 1, arbitrary: at.map((where) => pieces.toSpliced(where, 1).join("")) },
    { weight: 1, arbitrary: fc.tuple(at, texts).map(([where, text]) => pieces.toSpliced(where, 0, text).join("")) },
    {
      weight: 1,
      arbitrary: fc.tuple(at, texts).map(([where, text]) => pieces.toSpliced(where, 1, JSON.stringify(text)).join("")),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(at, fc.constantFrom("x", "_", "z9"))
        .map(([where, letter]) => pieces.toSpliced(where, 0, letter.repeat(70_000)).join("")),
    },
    { weight: 1, arbitrary: at.map((where) => pieces.slice(0, where).join("")) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(at, at)
        .map(([from, to]) => pieces.toSpliced(to, 0, ...pieces.slice(from, from + 3)).join("")),
    },
  );
}
