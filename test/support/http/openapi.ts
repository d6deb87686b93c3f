import { afterAll } from "vitest";
import { startApp } from "../app.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";

/** An OpenAPI document, to be walked through. */
export type Document = Record<string, any>;

export interface OperationPlace {
  readonly method: string;
  readonly path: string;
  readonly operation: Document;
}

/** Something that the document shows as an example, and the schema that it must fit. */
export interface ShownExample {
  readonly place: string;
  readonly value: unknown;
  readonly schema: Document;
}

export function operationsOf(document: Document): OperationPlace[] {
  return Object.entries<Document>(document["paths"]).flatMap(([path, methods]) =>
    Object.entries<Document>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** The part that a `$ref` of the document names, or the part itself. */
export function resolved(document: Document, part: Document): Document {
  if (typeof part["$ref"] !== "string") return part;
  return part["$ref"]
    .slice(2)
    .split("/")
    .reduce<Document>((current, step) => current[step], document);
}

/** Every example of parameters, headers, bodies and answers. */
export function examplesOf(document: Document): ShownExample[] {
  const carriers = (place: string, carrier: Document): ShownExample[] => {
    const values = [
      ...("example" in carrier ? [carrier["example"]] : []),
      ...Object.values<Document>(carrier["examples"] ?? {}).map(({ value }) => value),
    ];
    return values.map((value) => ({ place, value, schema: carrier["schema"] }));
  };
  const contents = (place: string, { content = {} }: Document) =>
    Object.entries<Document>(content).flatMap(([mediaType, carrier]) => carriers(`${place} ${mediaType}`, carrier));
  const inOperation = ({ method, path, operation }: OperationPlace): ShownExample[] => {
    const place = `${method} ${path}`;
    const parameters: Document[] = operation["parameters"];
    const responses = Object.entries<Document>(operation["responses"]);
    return [
      parameters.flatMap((parameter) => carriers(`${place} ${parameter["name"]}`, parameter)),
      contents(`${place} body`, operation["requestBody"] ?? {}),
      responses.flatMap(([status, response]) => contents(`${place} ${status}`, resolved(document, response))),
    ].flat();
  };
  const headers = Object.entries<Document>(document["components"]["headers"]);
  return [
    ...operationsOf(document).flatMap(inOperation),
    ...headers.flatMap(([name, header]) => carriers(name, header)),
  ];
}

/** Finds how a value departs from a schema of the document: an empty list where it fits. */
export type FindFaults = (schema: Document, value: unknown) => readonly object[];

/** With `closed`, members that a schema does not name are faults too. */
export function faultFinder(document: Document, { closed }: { closed: boolean }): FindFaults {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const prepare = closed ? close : (part: Document) => part;
  ajv.addSchema({ $id: "document", components: prepare(document["components"]) }); // compiled once, not for each schema
  const compiled = new WeakMap<Document, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(mapObjects(prepare(schema), intoDocument));
    compiled.set(schema, validate);
    return validate(value) ? [] : (validate.errors ?? []);
  };
}

/** References start at the root of a schema, which is not the document's. */
function intoDocument(object: Document): Document {
  return typeof object["$ref"] === "string" ? { ...object, $ref: `document${object["$ref"]}` } : object;
}

function close(part: any): any {
  return mapObjects(part, (object) =>
    object["type"] === "object" && object["properties"] !== undefined
      ? { additionalProperties: false, ...object }
      : object,
  );
}

function mapObjects(part: any, change: (object: Document) => Document): any {
  if (Array.isArray(part)) return part.map((item) => mapObjects(item, change));
  if (typeof part !== "object" || part === null) return part;
  return change(Object.fromEntries(Object.entries(part).map(([name, member]) => [name, mapObjects(member, change)])));
}

/** Limits that tests reach with little. */
export const smallLimits = { bodyBytesMax: 20_000, bulkProductsMax: 5 };

/** The service with small limits until the last test of the file, and what its document says. */
export async function openDocumentedApp(overrides: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp({ ...smallLimits, ...overrides });
  afterAll(() => app.close());
  const response = await fetch(`${app.url}/openapi.json`);
  const document = (await response.json()) as Document;
  const operationAt = (method: string, path: string): Document => document["paths"][path][method.toLowerCase()];
  return { app, document, operationAt };
}
