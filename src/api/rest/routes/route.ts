import type { ErrorCode, Problems } from "../../../errors.js";
import { takesIdempotencyKey } from "../../../schema/operationNames.js";

/** A documented REST path, and the operation of the schema that serves it. */
export interface RestRoute {
  readonly root: "Query" | "Mutation";
  readonly operation: string;
  /** It must not change, because it names a function in generated clients. */
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Parameters are written `:name`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "Products" | "Analytics" | "Live streams" | "Orders" | "Store";
  readonly errors: readonly ErrorCode[];
  readonly example: RouteExample;
  /** The media types of files, and the argument that a file replaces. Other arguments are in the query string. */
  readonly upload?: {
    readonly mediaTypes: readonly string[];
    readonly argument: string;
    readonly placeholder: unknown;
    /** Parameters of the query string about how the file is read. They are not arguments of the operation. */
    readonly readingOptions?: readonly string[];
    /** Those of them that may be repeated. */
    readonly repeated?: readonly string[];
  };
  /** A field of a body's member whose value is in the path, and so must not be in the body. */
  readonly pathField?: { readonly parameter: string; readonly member: string; readonly field: string };
  /** The media types of bodies with an item of a list argument on each line. They are executed in batches as they arrive. */
  readonly batches?: { readonly mediaTypes: readonly string[]; readonly argument: string };
  /** A path of the service's contract. Its answers have the documented fields, and reads ignore unknown parameters. */
  readonly inContract?: boolean;
  /** For types of which answers have only some fields, these fields; see derivation.ts. */
  readonly fields?: FieldsByType;
  /** Fields of the answer that are omitted unless an argument has this value. */
  readonly shownOnDemand?: readonly OnDemand[];
}

/** For the OpenAPI document. Each can be sent to the demo store as it is, in any order and again. */
interface RouteExample {
  readonly parameters?: Readonly<Record<string, string>>;
  /** A valid body, if there is one. */
  readonly request?: unknown;
  readonly answer: unknown;
  /** Checks invalid input, so that the example has the real messages. */
  readonly findProblems?: (problems: Problems) => void;
}

/** By the name of a type or, for the values of one field, by that of the field: `StoreAnalytics.topShows`. */
export type FieldsByType = Readonly<Record<string, readonly string[]>>;

export interface OnDemand {
  readonly fields: readonly string[];
  readonly argument: string;
  readonly value: unknown;
}

export const restBase = "/external";

/** The names of the parameters in a path. */
export function pathParameters({ path }: Pick<RestRoute, "path">): readonly string[] {
  return [...path.matchAll(/:(\w+)/gu)].map(([, name = ""]) => name);
}

/** The media types of a route's bodies, in words. */
export function bodyTypesOf({ upload, batches }: Pick<RestRoute, "upload" | "batches">): string {
  const types = ["application/json", ...((upload ?? batches)?.mediaTypes ?? [])];
  const all = `${types.slice(0, -1).join(", ")}${types.length > 1 ? " or " : ""}${types.at(-1) ?? ""} in UTF-8`;
  const isEncodable = upload?.readingOptions?.includes("encoding") === true;
  return isEncodable ? `${all}; the parameter encoding= names another encoding of a file, not its charset` : all;
}

/** Whether calls of a route may have an Idempotency-Key. */
export function takesKey({ root, operation }: Pick<RestRoute, "root" | "operation">): boolean {
  return takesIdempotencyKey([`${root}.${operation}`]);
}

/** Whether calls of a route may have a condition, because GET of its path answers with the state that they replace. */
export function takesCondition({ method }: Pick<RestRoute, "method">): boolean {
  return method === "PUT" || method === "DELETE";
}

export function takesBody({ method }: Pick<RestRoute, "method">): boolean {
  return method === "POST" || method === "PUT";
}
