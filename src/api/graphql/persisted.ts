import { AppError } from "../../errors.js";
import { isObject } from "../../lib/json/parseJson.js";

export interface PersistedOperations {
  /**
   * Replaces the id in a POST's body with the document.
   *
   * @throws {AppError} PERSISTED_QUERY_NOT_FOUND; PERSISTED_QUERY_NOT_SUPPORTED if there is no file of them; BAD_REQUEST if the id
   *   is missing and only persisted operations may run
   */
  resolve(body: unknown): unknown;
  resolveSearch(search: string): string;
}

interface Options {
  /** Documents by id; undefined if there is no file of them. */
  readonly documents: ReadonlyMap<string, string> | undefined;
  /** Whether only persisted operations may run. */
  readonly only: boolean;
  /** Documents that may always be sent in full: those of the dashboard. */
  readonly ownTexts: readonly string[];
}

type Params = Readonly<Record<string, unknown>>;

/**
 * The id is `documentId` (GraphQL over HTTP, Appendix A) or `extensions.persistedQuery.sha256Hash` (Apollo and Relay).
 * An operation that is sent in full runs even if its id is unknown, unless only persisted operations may run.
 */
export function createPersistedOperations({ documents, only, ownTexts }: Options): PersistedOperations {
  const own = new Set(ownTexts);
  const ownText = ({ query }: Params): string => {
    if (typeof query === "string" && own.has(query)) return query;
    throw new AppError("BAD_REQUEST", "Only persisted operations are allowed: send the id of one as documentId.");
  };
  const textFor = (params: Params): string | undefined => {
    const id = idOf(params);
    if (id === undefined) return only ? ownText(params) : undefined;
    if (typeof id !== "string") throw new AppError("BAD_REQUEST", "The id of a persisted operation must be a string.");
    const text = documents?.get(id) ?? documents?.get(id.replace(/^sha256:/u, ""));
    if (text !== undefined || (!only && typeof params["query"] === "string")) return text;
    // On these exact messages, clients send the operation in full. After the first one, they always do.
    if (documents === undefined) throw new AppError("PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported");
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
      params.set("query", text);
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

function restOf(extensions: unknown): { extensions?: unknown } {
  const { persistedQuery: _, ...others } = asParams(extensions) ?? {};
  return Object.keys(others).length === 0 ? {} : { extensions: others };
}

function asParams(value: unknown): Params | undefined {
  return isObject(value) ? value : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
