import { type Document, type FindFaults, type OperationPlace, resolved } from "./openapi.js";
import type { Random } from "../faults/random.js";

/** A request that the document allows. */
export interface AllowedCall extends OperationPlace {
  /** The path with its parameters, and the query string. */
  readonly url: string;
  readonly mediaType?: string;
  readonly body?: unknown;
}

/** Values that fit the data of the test, where the document allows more than can be made up from its schemas. */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly values: readonly unknown[];
}
type Chosen = Readonly<Record<string, unknown>>;

const randomOfEach = 2;

/** What is required alone, then all members, until each of their values was sent once, then random combinations of them. */
function combinations(members: readonly Member[], random: Random): Chosen[] {
  const choose = (chosen: readonly Member[], indexOf: (values: readonly unknown[]) => number): Chosen =>
    Object.fromEntries(chosen.map(({ name, values }) => [name, values[indexOf(values)]]));
  const rounds = Math.max(0, ...members.map(({ values }) => values.length));
  const mixed = Array.from({ length: members.length > 1 ? randomOfEach : 0 }, () =>
    choose(
      members.filter((each) => each.required || random.whole(0, 1) === 1),
      (values) => random.whole(0, values.length - 1),
    ),
  );
  return [
    choose(
      members.filter(({ required }) => required),
      () => 0,
    ),
    ...Array.from({ length: rounds }, (_, round) => choose(members, (values) => round % values.length)),
    ...mixed,
  ];
}

/** Values of a schema: each of an enum, the bounds and the default of others, and null where it is allowed. */
function valuesOf(document: Document, given: Document, name: string, known: KnownValues): unknown[] {
  const schema = resolved(document, given);
  const fromDefault = "default" in given ? [given["default"]] : [];
  if (schema["anyOf"] !== undefined) {
    const each = schema["anyOf"].flatMap((part: Document) => valuesOf(document, part, name, known));
    return [...fromDefault, ...each];
  }
  const types: string[] = [schema["type"]].flat();
  const nothing = types.includes("null") ? [null] : [];
  if (known[name] !== undefined) return [...known[name], ...nothing];
  if (schema["enum"] !== undefined) return schema["enum"];
  if (types.includes("boolean")) return [true, false, ...nothing];
  const bounds = [given["minimum"], given["maximum"]].filter((bound) => bound !== undefined);
  if (types.includes("integer") || types.includes("number")) return [...(bounds.length > 0 ? bounds : [1]), ...nothing];
  if (types.includes("null") && types.length === 1) return nothing;
  throw new Error(`The test has no value for ${name}.`);
}

/** The calls of an operation that the document allows: of each kind of body, with each parameter and member, and with some. */
export function allowedCalls(
  document: Document,
  place: OperationPlace,
  { known, random, faults }: { known: KnownValues; random: Random; faults: FindFaults },
): AllowedCall[] {
  const { operation, path } = place;
  const parameters: Document[] = operation["parameters"];
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) =>
    encodeURIComponent(String(parameters.find((parameter) => parameter["name"] === name)?.["example"])),
  );
  const inQuery = parameters
    .filter((parameter) => parameter["in"] === "query")
    .map((parameter): Member => {
      const { name, required, schema, example } = parameter;
      const values = example === undefined ? valuesOf(document, schema, name, known) : [example];
      for (const value of values) expectAllowed(faults, schema, value, `${path} ${name}`);
      return { name, required, values };
    })
    .filter(({ values }) => values.length > 0);
  const queries = combinations(inQuery, random).map((chosen) => {
    const pairs = Object.entries(chosen).map(([name, value]): [string, string] => [name, String(value)]);
    return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs).toString()}`;
  });
  if (operation["requestBody"] === undefined) return queries.map((url) => ({ ...place, url }));
  const content = Object.entries<Document>(operation["requestBody"].content);
  return content.flatMap(([mediaType, { schema, example }]): AllowedCall[] => {
    if (mediaType !== "application/json") return queries.map((url) => ({ ...place, url, mediaType, body: example }));
    return allowedBodies(document, schema, example, { known, random, faults }).map((body) => ({
      ...place,
      url: filled,
      mediaType,
      body,
    }));
  });
}

function allowedBodies(
  document: Document,
  schema: Document,
  example: Document,
  { known, random, faults }: { known: KnownValues; random: Random; faults: FindFaults },
): unknown[] {
  const whole = resolved(document, schema);
  const variants: Document[] = whole["anyOf"] ?? [whole];
  const bodies = variants.flatMap(({ properties, required }) => {
    const members = Object.entries<Document>(properties).map(([name, property]): Member => {
      const values = name in example ? itemsOf(document, property, example[name]) : undefined;
      return {
        name,
        required: required.includes(name),
        values: values ?? valuesOf(document, property, name, known),
      };
    });
    return combinations(members, random);
  });
  for (const body of bodies) expectAllowed(faults, schema, body, "a body");
  return bodies;
}

/** The example of a body's member, and where that is a product or products, also without fields and with null for them. */
function itemsOf(document: Document, property: Document, example: any): unknown[] {
  const isList = property["items"] !== undefined;
  const item: Document = resolved(document, isList ? property["items"] : property);
  const [one, ...others] = isList ? example : [example];
  if (item["properties"]?.["sku"] === undefined) return [example];
  const { required = ["id"] } = item;
  const optional = Object.entries<Document>(item["properties"]).filter(([name]) => !required.includes(name));
  /** With some fields left out, and the others null where they may be. */
  const changed = [() => true, () => false, (index: number) => index % 2 === 0, (index: number) => index % 2 === 1].map(
    (isOmitted) => {
      const kept = { ...one };
      for (const [index, [name, field]] of optional.entries()) {
        if (isOmitted(index)) delete kept[name];
        else if ([field["type"]].flat().includes("null")) kept[name] = null;
      }
      return kept;
    },
  );
  return [one, ...changed].map((each) => (isList ? [each, ...others] : each));
}

function expectAllowed(faults: FindFaults, schema: Document, value: unknown, place: string): void {
  const found = faults(schema, value);
  if (found.length > 0) throw new Error(`The test made a value that is not allowed: ${place} ${JSON.stringify(value)}`);
}
