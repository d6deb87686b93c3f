import { readFile } from "node:fs/promises";
import { type DocumentNode, GraphQLError, Kind } from "graphql";
import { ConfigError } from "../../config.js";
import { isObject } from "../../lib/json/parseJson.js";
import { clip } from "../../lib/text.js";
import type { KnownOperations } from "../execution/operationCache.js";

/** A message lists this many problems, and counts the rest. */
const problemsMax = 100;

/**
 * Reads documents by id as GraphQL Code Generator's client preset writes them (`persistedDocuments`), and validates
 * them like any operation.
 *
 * @param known keeps each operation, so that even its first call is fast
 * @throws {ConfigError} listing every problem of the file
 */
export async function readPersistedOperations(
  path: string,
  known: KnownOperations,
): Promise<ReadonlyMap<string, string>> {
  const documents = new Map<string, string>();
  const problems: string[] = [];
  for (const [id, text] of Object.entries(await readObject(path))) {
    const document = readDocument(text, known);
    if ("problems" in document) {
      problems.push(...document.problems.map((problem) => `${clip(id)}: ${problem.replace(/\.$/u, "")}`));
    } else {
      documents.set(id, document.text);
      makeKnown(document.parsed, known);
    }
  }
  if (problems.length > 0) throw invalid(path, problems);
  return documents;
}

async function readObject(path: string): Promise<object> {
  const text = await readFile(path, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw invalid(path, [`it cannot be read (${code})`]);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(path, ["it is not JSON"]);
  }
  if (isObject(value)) return value;
  throw invalid(path, ["it must be an object of documents by their ids"]);
}

type Read = { readonly text: string; readonly parsed: DocumentNode } | { readonly problems: readonly string[] };

function readDocument(text: unknown, known: KnownOperations): Read {
  if (typeof text !== "string") return { problems: ["the document must be a string"] };
  try {
    const document = known.parse(text);
    const errors = known.validate(document);
    return errors.length > 0 ? { problems: errors.map(({ message }) => message) } : { text, parsed: document };
  } catch (error) {
    return { problems: [error instanceof GraphQLError ? error.message : "it is nested too deeply"] };
  }
}

function makeKnown(document: DocumentNode, known: KnownOperations): void {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 1) known.add(document, undefined);
  for (const { name } of operations) if (name !== undefined) known.add(document, name.value);
}

function invalid(path: string, problems: readonly string[]): ConfigError {
  const more = problems.length > problemsMax ? [`and ${problems.length - problemsMax} more`] : [];
  const all = [...problems.slice(0, problemsMax), ...more];
  return new ConfigError(`PERSISTED_OPERATIONS is not valid: in ${path}, ${all.join("; ")}.`);
}
