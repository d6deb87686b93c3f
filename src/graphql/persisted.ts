import { AppError } from "../errors.js";

/** Operations that callers name instead of sending them. */
export interface PersistedOperations {
  /**
   * What a POST asks for, with the document in place of its name; the same value where it names none.
   *
   * @throws {AppError} PERSISTED_QUERY_NOT_FOUND, or BAD_REQUEST for what names no operation where it has to
   */
  resolve(body: unknown): unknown;
  /** The same for the query string of a GET. */
  resolveSearch(search: string): string;
}

interface Options {
  /** By their ids. */
  readonly documents: ReadonlyMap<string, string>;
  /** Whether nothing else may run, */
  readonly only: boolean;
  /** but for these, which may be sent in full. */
  readonly ownTexts: readonly string[];
}

type Params = Readonly<Record<string, unknown>>;

/**
 * An operation is named by `documentId`, as in Appendix A of GraphQL over HTTP, or by `extensions.persistedQuery.sha256Hash`,
 * as Apollo's and Relay's clients do it. One that comes along in full runs if its name is unknown, unless only persisted ones may.
 */
export function createPersistedOperations({ documents, only, ownTexts }: Options): PersistedOperations {
  const own = new Set(ownTexts);
  const textFor = (params: Params): string | undefined => {
    const id = idOf(params);
    if (id === undefined) {
      if (!only) return undefined;
      const { query } = params;
      if (typeof query === "string" && own.has(query)) return query;
      throw new AppError("BAD_REQUEST", "Only persisted operations are run here: name one in documentId.");
    }
    if (typeof id !== "string") throw new AppError("BAD_REQUEST", "The id of a persisted operation must be a string.");
    const text = documents.get(id) ?? documents.get(id.replace(/^sha256:/u, ""));
    if (text !== undefined || (!only && typeof params["query"] === "string")) return text;
    // Clients look for this very text, and send the operation in full.
    throw new AppError("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound");
  };
  return {
    resolve(body) {
      const params = asParams(body);
      const query = textFor(params ?? {});
      if (query === undefined || params === undefined) return body;
      const { documentId: _, extensions, ...others } = params;
      return { ...others, query, ...restOf(extensions) };
    },
    resolveSearch(search) {
      const params = new URLSearchParams(search);
      const { query, documentId, extensions = "" } = Object.fromEntries(params);
      const text = textFor({ query, documentId, extensions: parsed(extensions) });
      if (text === undefined) return search;
      params.set("query", text); // in place of all there are: what was looked at is what runs
      params.delete("documentId");
      params.delete("extensions");
      return params.toString();
    },
  };
}

function idOf({ documentId, extensions }: Params): unknown {
  const id = documentId ?? asParams(asParams(extensions)?.["persistedQuery"])?.["sha256Hash"];
  return id ?? undefined;
}

/** What extensions hold beside the name. */
function restOf(extensions: unknown): { extensions?: unknown } {
  const { persistedQuery: _, ...others } = asParams(extensions) ?? {};
  return Object.keys(others).length === 0 ? {} : { extensions: others };
}

function asParams(value: unknown): Params | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Params) : undefined;
}

/** What is no JSON names nothing, and is left to others to refuse. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
