import * as fc from "fast-check";
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  OperationTypeNode,
} from "graphql";
import { Choices } from "./choices.js";

export interface GeneratedOperation {
  readonly kind: OperationTypeNode;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Operations of a schema that are valid, or nearly: queries, mutations and subscriptions, with aliases, fragments that are
 * spread several times, conditions, and variables at every place, which are absent, null, or have defaults.
 */
export function operationsOf(schema: GraphQLSchema): fc.Arbitrary<GeneratedOperation> {
  return fc
    .array(fc.nat(), { minLength: 20, maxLength: 200, size: "max" })
    .map((numbers) => new Writer(schema, new Choices(numbers)).operation());
}

const plainNames = ["a", "b", "c", "d"] as const;
/** Those of every object of JavaScript. */
const inheritedNames = ["toString", "constructor", "valueOf", "hasOwnProperty"] as const;

/** What the fields of inputs get in most cases, so that many mutations store something. */
const likely: Readonly<Record<string, readonly [unknown, ...unknown[]]>> = {
  id: ["a", "b", "new"],
  productId: ["a", "b", "missing"],
  lsId: ["show", "other", "missing"],
  sku: ["sku-a", "sku-b", "sku-new"],
  url: ["https://shop.example/a"],
  featured_image: ["https://shop.example/a.jpg"],
  images: [["https://shop.example/1.jpg"]],
  startedAt: ["2026-05-04T18:30:00Z"],
  occurredAt: ["2026-05-04T18:30:05Z", "2026-05-04T18:40:05Z"],
  from: ["2026-05-01T00:00:00Z"],
  until: ["2026-05-08T00:00:00Z"],
  timeZone: ["Europe/Berlin"],
  status: ["ENDED"], // the figures of a running show change with the time
  email: ["host@shop.example"],
  mode: ["UPSERT", "REPLACE"],
  viewerId: ["v", "w"],
  after: ["", "x"],
};

const leaves: Readonly<Record<string, readonly [unknown, ...unknown[]]>> = {
  String: ["a", "b", "", "show", "a b"],
  ID: ["a", "b", 1],
  Int: [1, 0, 60, 3, -1, 1_000_000],
  Float: [1.5, 0, 20, -1, 1e9],
  Boolean: [true, false],
  DateTime: ["2026-05-04T18:30:00Z", "2026-05-05T18:30:00.5+02:00"],
};

/** Not generated: they give random ids, or times of their own. */
const excluded = new Set(["eraseViewer", "__schema", "__type"]);

class Writer {
  readonly #variables = new Map<string, string>();
  readonly #values: Record<string, unknown> = {};
  readonly #fragments = new Map<string, { readonly type: GraphQLObjectType; text: string }>();
  /** What an operation has: one of these or all. A query that has one is not compiled, which would hide what another one does. */
  readonly #has: Readonly<Record<"literals" | "conditions" | "defaults" | "inheritedNames", boolean>>;
  readonly #bareAliases = new Set<string>();
  #aliases = 0;

  constructor(
    readonly schema: GraphQLSchema,
    readonly choices: Choices,
  ) {
    const one = choices.of(["literals", "conditions", "defaults", "inheritedNames", "all"]);
    const has = (feature: typeof one) => one === feature || one === "all";
    this.#has = {
      literals: has("literals"),
      conditions: has("conditions"),
      defaults: has("defaults"),
      inheritedNames: has("inheritedNames"),
    };
  }

  operation(): GeneratedOperation {
    const kind = this.choices.of([
      OperationTypeNode.QUERY,
      OperationTypeNode.MUTATION,
      OperationTypeNode.MUTATION,
      OperationTypeNode.QUERY,
      OperationTypeNode.SUBSCRIPTION,
    ]);
    const root = this.schema.getRootType(kind);
    if (root === undefined || root === null) throw new Error(`The schema has no ${kind}.`);
    const body = kind === OperationTypeNode.SUBSCRIPTION ? this.#field(root, 0) : this.#selection(root, 0);
    const fragments = [...this.#fragments].map(
      ([name, { type, text }]) => `fragment ${name} on ${type.name} { ${text} }`,
    );
    const declared = [...this.#variables].map(([name, type]) => `$${name}: ${type}`);
    const parameters = declared.length === 0 ? "" : `(${declared.join(", ")})`;
    return { kind, query: [`${kind}${parameters} { ${body} }`, ...fragments].join(" "), variables: this.#values };
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const count = 1 + this.choices.upTo(3);
    return Array.from({ length: count }, () => this.#part(type, depth)).join(" ");
  }

  #part(type: GraphQLObjectType, depth: number): string {
    switch (this.choices.upTo(6)) {
      case 4:
        return `... on ${type.name}${this.#condition(3)} { ${this.#field(type, depth)} ${this.#field(type, depth)} }`;
      case 5:
        return this.#spreads(type, depth);
      default:
        return this.#field(type, depth);
    }
  }

  /** A named fragment, once or twice, which other places may spread too. */
  #spreads(type: GraphQLObjectType, depth: number): string {
    const known = [...this.#fragments].filter(([, fragment]) => fragment.type === type && fragment.text !== "");
    const reused = known[this.choices.upTo(known.length + 1)]?.[0];
    const name = reused ?? `F${this.#fragments.size}`;
    if (reused === undefined) {
      const fragment = { type, text: "" }; // not spread while it is written: it would be cyclic
      this.#fragments.set(name, fragment);
      fragment.text = this.#selection(type, depth + 1);
    }
    const again = this.choices.oneIn(2) ? ` ...${name}${this.#condition(2)}` : "";
    return `...${name}${this.#condition(2)}${again}`;
  }

  #field(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields()).filter(
      (one) => !excluded.has(one.name) && (depth < 4 || !isObjectType(getNamedType(one.type))),
    );
    const field = fields[this.choices.upTo(fields.length)];
    if (field === undefined) return "__typename";
    const inner = getNamedType(field.type);
    const args = this.#arguments(field.args);
    // Each call has an alias of its own, or fields with other arguments would conflict.
    const isAliased = args !== "" || this.choices.oneIn(5);
    const alias = isAliased ? `${this.#alias()}: ` : "";
    const selection = isObjectType(inner) ? ` { ${this.#selection(inner, depth + 1)} }` : "";
    return `${alias}${field.name}${args}${this.#condition(8)}${selection}`;
  }

  /** Once in so many times. */
  #condition(rarity: number): string {
    if (!this.#has.conditions || !this.choices.oneIn(rarity)) return "";
    const value = this.choices.of(["variable", "true", "false"] as const);
    const written = value === "variable" ? this.#variable("if", this.#booleanRequired) : value;
    return ` @${this.choices.of(["include", "skip"])}(if: ${written})`;
  }

  get #booleanRequired(): GraphQLInputType {
    const [argument] = this.schema.getDirective("skip")?.args ?? [];
    if (argument === undefined) throw new Error("The schema has no @skip.");
    return argument.type;
  }

  #arguments(args: readonly GraphQLArgument[]): string {
    const given = args.filter(
      ({ type, defaultValue }) => (isNonNullType(type) && defaultValue === undefined) || this.choices.oneIn(4),
    );
    if (given.length === 0) return "";
    return `(${given.map(({ name, type }) => `${name}: ${this.#literal(name, type)}`).join(", ")})`;
  }

  #name(): string {
    return this.choices.of(this.#has.inheritedNames && this.choices.oneIn(2) ? inheritedNames : plainNames);
  }

  /** Each is given once; those of every object have no number. */
  #alias(): string {
    const name = this.#name();
    if (this.#bareAliases.has(name) || plainNames.some((plain) => plain === name))
      return `${name}${(this.#aliases += 1)}`;
    this.#bareAliases.add(name);
    return name;
  }

  /** A literal, with variables at any place of it. */
  #literal(name: string, type: GraphQLInputType): string {
    const isLeaf = !isInputObjectType(getNamedType(type));
    if ((!this.#has.literals && isLeaf) || this.choices.oneIn(3)) return this.#variable(name, type);
    if (!isNonNullType(type) && this.choices.oneIn(12)) return "null";
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      const count = this.choices.of([1, 2, 0]);
      const items = Array.from({ length: count }, () => this.#literal(name, nullable.ofType));
      return count === 1 && this.choices.oneIn(4) ? (items[0] ?? "[]") : `[${items.join(", ")}]`;
    }
    if (!isInputObjectType(nullable)) return this.#leafLiteral(this.#value(name, type), nullable);
    const fields = Object.values(nullable.getFields()).filter(
      (field) => isNonNullType(field.type) || this.choices.oneIn(3),
    );
    return `{${fields.map((field) => `${field.name}: ${this.#literal(field.name, field.type)}`).join(", ")}}`;
  }

  /** A value as a literal without variables. */
  #constant(value: unknown, type: GraphQLInputType): string {
    const nullable = getNullableType(type);
    if (Array.isArray(value)) {
      const itemType = isListType(nullable) ? nullable.ofType : nullable;
      return `[${value.map((item) => this.#constant(item, itemType)).join(", ")}]`;
    }
    if (isListType(nullable)) return this.#constant(value, nullable.ofType);
    if (!isInputObjectType(nullable)) return this.#leafLiteral(value, nullable);
    const types = nullable.getFields();
    const fields = Object.entries(value as object).map(
      ([name, inner]) => `${name}: ${this.#constant(inner, types[name]?.type ?? nullable)}`,
    );
    return `{${fields.join(", ")}}`;
  }

  #leafLiteral(value: unknown, type: GraphQLInputType): string {
    return isEnumType(getNamedType(type)) && typeof value === "string" ? value : JSON.stringify(value);
  }

  #variable(name: string, type: GraphQLInputType): string {
    const variable = this.choices.oneIn(this.#has.inheritedNames ? 2 : 4)
      ? this.#name()
      : `${this.#name()}${this.#variables.size}`;
    if (this.#variables.has(variable)) return `$${variable}`; // of another type, perhaps
    const nullable = getNullableType(type);
    const hasDefault = this.#has.defaults && this.choices.oneIn(2);
    const isRequired = hasDefault ? this.choices.oneIn(2) : isNonNullType(type) || this.choices.oneIn(6);
    const required = isRequired ? "!" : "";
    const written = hasDefault ? ` = ${this.#constant(this.#value(name, type), type)}` : "";
    this.#variables.set(variable, `${String(nullable)}${required}${written}`);
    const isMissing = hasDefault ? this.choices.oneIn(2) : this.choices.oneIn(isRequired ? 12 : 3);
    if (!isMissing) this.#values[variable] = this.#value(name, type);
    else if (this.choices.oneIn(2)) this.#values[variable] = null;
    return `$${variable}`;
  }

  /** A value as JSON. */
  #value(name: string, type: GraphQLInputType): unknown {
    const nullable = getNullableType(type);
    if (isListType(nullable) && !Object.hasOwn(likely, name)) {
      return Array.from({ length: this.choices.of([1, 2, 0]) }, () => this.#value(name, nullable.ofType));
    }
    if (isInputObjectType(nullable)) {
      const fields = Object.values(nullable.getFields()).filter(
        (field) => isNonNullType(field.type) || this.choices.oneIn(3),
      );
      return Object.fromEntries(fields.map((field) => [field.name, this.#value(field.name, field.type)]));
    }
    const named = getNamedType(nullable);
    if (isEnumType(named) && !(name in likely)) {
      const [first = "", ...others] = named.getValues().map((one) => one.name);
      return this.choices.of([first, ...others]);
    }
    if (Object.hasOwn(likely, name) && !this.choices.oneIn(12)) return this.choices.of(likely[name] ?? [null]);
    return this.choices.of(leaves[named.name] ?? ["a"]);
  }
}
