import { type DocumentNode, GraphQLError, parse, type ParseOptions, type Source, TokenKind } from "graphql";
import { limits } from "./limits.js";

/**
 * Within limits of characters, lines, tokens and names. Validation errors may repeat the operation's name: one of
 * megabytes would make an answer of gigabytes.
 *
 * @throws {GraphQLError} for invalid syntax or exceeded limits
 */
export function parseBounded(text: string | Source, options?: ParseOptions): DocumentNode {
  requireBounded(typeof text === "string" ? text : text.body);
  const document = parse(text, { ...options, maxTokens: limits.tokens });
  for (let token = document.loc?.startToken ?? null; token !== null; token = token.next) {
    if (token.kind !== TokenKind.NAME || token.end - token.start <= limits.nameCharacters) continue;
    const place = document.loc === undefined ? {} : { source: document.loc.source, positions: [token.start] };
    throw new GraphQLError(`A name may have at most ${limits.nameCharacters} characters.`, place);
  }
  return document;
}

export const textTooLong = `The text of an operation may have at most ${limits.textCharacters} characters.`;

const lineEnd = /\r\n|[\n\r]/gu;

/** GraphQL's parser bounds neither comments nor the length of a token. */
function requireBounded(text: string): void {
  if (text.length > limits.textCharacters) throw new GraphQLError(textTooLong);
  if ((text.match(lineEnd)?.length ?? 0) < limits.lines) return;
  throw new GraphQLError(`The text of an operation may have at most ${limits.lines} lines.`);
}
