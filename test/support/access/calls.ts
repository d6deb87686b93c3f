import {
  type GraphQLInputType,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  type NamedTypeNode,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
} from "graphql";
import { anyToken, type RequiredScope } from "../../../src/schema/scopes.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { exportRoutes } from "../../../src/api/rest/exports/export.routes.js";
import { planRest, type RestOperation } from "../../../src/api/rest/routes/derivation.js";
import { pathParameters, restBase, type RestRoute, takesBody } from "../../../src/api/rest/routes/route.js";
import type { TestStore } from "../app.js";
import { sendUntil } from "../call.js";
import { toCsv } from "../catalog/csv.js";
import { product } from "../products.js";

/** A call as it is sent. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Argument {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly defaultValue?: unknown;
}

export type Given = Readonly<Record<string, unknown>>;

/** A field of the root types, or a path of REST. All of them are found in the schema and in the tables of routes. */
export interface Operation {
  readonly name: string;
  readonly scope: RequiredScope;
  /** The field that it is or exposes; of exports, none. */
  readonly field: string | undefined;
  readonly isRead: boolean;
  readonly args: readonly Argument[];
  /** Whether what it names must be there. */
  readonly finds: boolean;
  /** A call with these arguments, in each form that it has. A bare one asks for nothing but the name of the type. */
  calls(given: Given, isBare?: boolean): readonly Sent[];
}

const roots = {
  Query: schema.getQueryType(),
  Mutation: schema.getMutationType(),
  Subscription: schema.getSubscriptionType(),
};
const json = { "content-type": "application/json" };

/** What is named by an argument that must be there, and yet need not exist. */
const needNotExist = new Set(["importProductsCsv", "eraseViewer"]);

export const operations: readonly Operation[] = [
  ...fieldsOfRoots(),
  ...(await planRest(schema)).map(ofRoute),
  ...exportRoutes.map(ofExport),
];

function fieldsOfRoots(): Operation[] {
  return Object.entries(roots).flatMap(([root, type]) =>
    Object.values(type?.getFields() ?? {}).map((field): Operation => {
      const { name, args, extensions } = field;
      return {
        name: `${root}.${name}`,
        scope: extensions.scope ?? anyToken,
        field: name,
        isRead: root !== "Mutation",
        args,
        finds: !needNotExist.has(name) && args.some((each) => isRequiredArgument(each) && isText(each.type)),
        calls: (given, isBare) => [graphqlCall(root as keyof typeof roots, name, given, isBare)],
      };
    }),
  );
}

function fieldOf(root: keyof typeof roots, name: string) {
  const field = roots[root]?.getFields()[name];
  if (field === undefined) throw new Error(`There is no ${root}.${name}.`);
  return field;
}

function graphqlCall(root: keyof typeof roots, name: string, variables: Given, isBare = false): Sent {
  const { args, type } = fieldOf(root, name);
  const used = args.filter((each) => Object.hasOwn(variables, each.name));
  const declared = used.map((each) => `$${each.name}: ${String(each.type)}`);
  const passed = used.map((each) => `${each.name}: $${each.name}`);
  const inBrackets = (list: readonly string[]) => (list.length === 0 ? "" : `(${list.join(", ")})`);
  const selection = isBare && !isLeafType(getNamedType(type)) ? "{ __typename }" : selectionOf(type);
  const query = `${root.toLowerCase()} ${inBrackets(declared)} { ${name}${inBrackets(passed)} ${selection} }`;
  const accept = root === "Subscription" ? "text/event-stream" : "application/json";
  return { method: "POST", path: "/graphql", headers: { ...json, accept }, body: JSON.stringify({ query, variables }) };
}

/** Everything that can be asked without arguments, some levels deep. A page's cursors are those of its items. */
function selectionOf(type: GraphQLOutputType, levels = 2): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return "";
  if (!("getFields" in named)) throw new Error(`${named.name} has no fields.`);
  const fields = Object.values(named.getFields()).filter(
    ({ name, args, ...field }) =>
      name !== "edges" && !args.some(isRequiredArgument) && (isLeafType(getNamedType(field.type)) || levels > 0),
  );
  const asked = fields.map(({ name, args, type: each }) => {
    const few = args.some((argument) => argument.name === "first") ? "(first: 2)" : ""; // what is asked for may cost so much only
    return `${name}${few} ${selectionOf(each, levels - 1)}`;
  });
  return `{ ${asked.join(" ")} }`;
}

function ofRoute(route: RestOperation): Operation {
  const { root, operation, method, path, upload, batches, parameters } = route;
  const { args, extensions } = fieldOf(root, operation);
  const asFile = upload ?? batches;
  const below = [...parameters.values()].filter((each) => isRequiredArgument(each) && !args.includes(each));
  return {
    name: `${method} ${restBase}${path}`,
    scope: extensions.scope ?? anyToken,
    field: operation,
    isRead: root === "Query",
    args: [...args, ...below],
    finds: pathParameters(route).length > 0 && route.pathField === undefined,
    calls(given) {
      const { filled, rest } = fillPath(route, given);
      if (!takesBody(route)) return [{ method, path: filled + queryOf(rest) }];
      const plain = { method, path: filled, headers: json, body: JSON.stringify(rest) };
      if (asFile === undefined) return [plain];
      const { [asFile.argument]: content, ...options } = rest;
      const body = Array.isArray(content) ? content.map((line) => JSON.stringify(line)).join("\n") : String(content);
      const headers = { "content-type": asFile.mediaTypes[0] ?? "" };
      return [plain, { method, path: filled + queryOf(options), headers, body }];
    },
  };
}

/** Puts what is in the path there. */
function fillPath(route: RestRoute, given: Given) {
  const rest: Record<string, any> = { ...given };
  const { pathField } = route;
  let filled = restBase + route.path;
  for (const parameter of pathParameters(route)) {
    let value: unknown = rest[parameter];
    if (pathField?.parameter === parameter) {
      const { [pathField.field]: own, ...others } = rest[pathField.member];
      [value, rest[pathField.member]] = [own, others];
    } else delete rest[parameter];
    filled = filled.replace(`:${parameter}`, encodeURIComponent(String(value)));
  }
  return { filled, rest };
}

function queryOf(given: Given): string {
  const pairs = Object.entries(given).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function ofExport({ path, scope, declared }: (typeof exportRoutes)[number]): Operation {
  const [definition] = parse(`query (${declared}) { __typename }`).definitions as [OperationDefinitionNode];
  const variables = definition.variableDefinitions ?? [];
  const args = variables.map(({ variable, type }): Argument => {
    const nullable = typeFromAST(schema, type as NamedTypeNode) as GraphQLScalarType;
    const isNeeded = nullable.name === "DateTime" && variable.name.value !== "updatedSince"; // by the rules of ranges
    return { name: variable.name.value, type: isNeeded ? new GraphQLNonNull(nullable) : nullable };
  });
  const name = `GET ${restBase}${path}`;
  const calls = (given: Given) => [{ method: "GET", path: restBase + path + queryOf(given) }];
  return { name, scope, field: undefined, isRead: true, args, finds: false, calls };
}

function isText(type: GraphQLInputType): boolean {
  return ["String", "ID"].includes(getNamedType(type).name);
}

/** What can be named of a store's data. */
export interface Names {
  /** By the names of arguments and of fields of inputs. */
  readonly by: Readonly<Record<string, readonly string[]>>;
  /** For all others. */
  readonly every: readonly string[];
}

/** Texts that name nothing, but must have a form. */
const forms: Readonly<Record<string, (name: string) => string>> = {
  featured_image: (name) => `https://shop.example/${name}.jpg`,
  url: (name) => `https://shop.example/${name}`,
  images: (name) => `https://shop.example/${name}-2.jpg`,
  email: () => "robin@shop.example",
  currency: () => "EUR",
  timeZone: () => "Europe/Berlin",
  delimiter: () => ",",
  csvContent: (name) => toCsv([product(name, { sku: name })]),
};

/** Where the first value of an enum, or 1, would be refused. */
const values: Readonly<Record<string, unknown>> = {
  status: "ENDED",
  type: "ORDER",
  kind: "MARKER",
  seconds: undefined,
  durationSeconds: 60,
  from: "2026-01-01T00:00:00Z",
  until: "2027-01-01T00:00:00Z",
  channel: "LIVE",
};

function nameAt({ by, every }: Names, field: string, index: number): string {
  const names = by[field] ?? every;
  const name = names[index % names.length] ?? "";
  return forms[field]?.(name) ?? name;
}

/** A value with what is required alone; names in it are the ones at this index. */
function valueOf(type: GraphQLInputType, field: string, names: Names, index: number): unknown {
  if (isNonNullType(type)) return valueOf(type.ofType, field, names, index);
  if (isListType(type)) return [valueOf(type.ofType, field, names, index)];
  if (isInputObjectType(type)) {
    const given = Object.values(type.getFields()).filter(
      (each) => isNonNullType(each.type) || isUsual(type.name, each.name),
    );
    return Object.fromEntries(given.map((each) => [each.name, valueOf(each.type, each.name, names, index)]));
  }
  if (isText(type)) return nameAt(names, field, index);
  if (Object.hasOwn(values, field)) return values[field];
  if (isEnumType(type)) return type.getValues()[0]?.value;
  if (type.name === "DateTime") return "2026-05-04T18:30:00Z";
  return type.name === "Boolean" ? true : 1;
}

/** Fields of inputs that the rules ask for, and the schema does not. */
const usual: Readonly<Record<string, readonly string[]>> = {
  ProductPatchInput: ["id", "title"],
  ShopperEventInput: ["amount"],
  LiveStreamInput: ["durationSeconds"],
  OrderInputLine: ["productId"],
};

function isUsual(type: string, field: string): boolean {
  return usual[type]?.includes(field) ?? false;
}

/**
 * The arguments of an operation by every name: what is required, by each name in turn, and with each other argument that may name
 * something. Fields and exports are also asked to choose and order in each way, and with each other field of an input that may name
 * something: paths run the same fields.
 */
export function asksOf({ args, name: operation, field }: Operation, names: Names): Given[] {
  const required = args.filter((each) => isNonNullType(each.type) && each.defaultValue === undefined);
  const others = args.filter((each) => !required.includes(each));
  const at = (index: number): Given =>
    Object.fromEntries(required.map(({ name, type }) => [name, valueOf(type, name, names, index)]));
  const first = at(0);
  const times = Math.max(1, ...required.map(({ name, type }) => timesOf(type, name, names)));
  const isWrite = operation.startsWith("Mutation.");
  const mayChoose = operation.includes(".") || field === undefined;
  const chooses = ({ type }: Argument) => mayChoose && !isText(type) && !(isWrite && getNamedType(type).name === "Int");
  return [
    ...Array.from({ length: times }, (_, index) => at(index)),
    ...others
      .filter((each) => mayName(each.type, each.name) || chooses(each))
      .flatMap(({ name, type }) => variantsOf(type, name, names).map((value) => ({ ...first, [name]: value }))),
    ...required
      .filter(() => mayChoose)
      .flatMap(({ name, type }) => withMore(type, first[name], names).map((value) => ({ ...first, [name]: value }))),
  ];
}

function mayName(type: GraphQLInputType, field: string): boolean {
  return isInputObjectType(getNamedType(type)) || (isText(type) && !Object.hasOwn(forms, field));
}

/** How many names a value can have in turn. */
function timesOf(type: GraphQLInputType, field: string, names: Names): number {
  const named = getNamedType(type);
  if (isText(type)) return (names.by[field] ?? names.every).length;
  if (!isInputObjectType(named)) return 1;
  const inner = Object.values(named.getFields()).filter(
    (each) => isNonNullType(each.type) && mayName(each.type, each.name),
  );
  return Math.max(1, ...inner.map((each) => timesOf(each.type, each.name, names)));
}

/** Each value of an argument that makes a difference. */
function variantsOf(type: GraphQLInputType, field: string, names: Names): unknown[] {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues().map(({ value }) => value);
  if (named.name === "Boolean") return [true, false];
  return Array.from({ length: timesOf(type, field, names) }, (_, index) => valueOf(type, field, names, index));
}

/** An input object with each name that it need not have; of a list, its only item. */
function withMore(type: GraphQLInputType, value: unknown, names: Names): unknown[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [];
  const isList = isListType(getNullableType(type));
  const item = (isList ? (value as unknown[])[0] : value) as Given;
  return Object.values(named.getFields())
    .filter((field) => !Object.hasOwn(item, field.name) && mayName(field.type, field.name))
    .flatMap((field) => variantsOf(field.type, field.name, names).map((each) => ({ ...item, [field.name]: each })))
    .map((each) => (isList ? [each] : each));
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

/** Everything that is answered; of a stream its first value. */
export async function answerTo({ url, token }: Pick<TestStore, "url" | "token">, sent: Sent): Promise<Answer> {
  const headers = { "X-Service-Access-Token": token, ...sent.headers };
  const isEnough = (text: string) => /^event: next\ndata: .*\n\n/mu.test(text);
  const { headers: answered, ...answer } = await sendUntil(url + sent.path, { ...sent, headers }, isEnough);
  return { ...answer, headers: Object.entries(answered).map(([name, value]) => [name, String(value)]) };
}
