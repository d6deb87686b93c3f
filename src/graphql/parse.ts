import { type DocumentNode, GraphQLError, parse, type ParseOptions, type Source, TokenKind } from "graphql";
import { limits } from "./limits.js";

/**
 * Parses an operation that may have so many tokens, and names so long. Each error that validation finds may repeat the
 * name of its operation: without a bound, one name of megabytes makes an answer of gigabytes.
 *
 * @throws {GraphQLError} for wrong syntax, and for what is above those limits
 */
export function parseBounded(text: string | Source, options?: ParseOptions): DocumentNode {
  const document = parse(text, { ...options, maxTokens: limits.tokens });
  for (let token = document.loc?.startToken ?? null; token !== null; token = token.next) {
    if (token.kind !== TokenKind.NAME || token.end - token.start <= limits.nameCharacters) continue;
    const place = document.loc === undefined ? {} : { source: document.loc.source, positions: [token.start] };
    throw new GraphQLError(`A name may have at most ${limits.nameCharacters} characters.`, place);
  }
  return document;
}
