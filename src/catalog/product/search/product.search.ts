import { createHash } from "node:crypto";
import { wordsOf } from "../../../lib/words.js";

export const searchCharactersMax = 1_000;
const searchWordsMax = 16;
/** Few, because looking up a word that all products have takes milliseconds. */
const indexedWordsMax = 3;
/** Short, because it is stored with each word. It need not be unique. */
const markLength = 6;

export interface SearchQuery {
  /** Each must begin a word of the product. */
  readonly all: string;
  /** The longest words, which tend to be the rarest. */
  readonly indexed: string;
}

/** Prefixes a store's words in the index, so that frequent words of one store do not slow down others. */
export function storeMark(storeId: string): string {
  return createHash("sha256").update(storeId).digest("hex").slice(0, markLength);
}

/** Undefined for a text without words, which cannot match. */
export function searchQuery(storeId: string, text: string): SearchQuery | undefined {
  const words = wordsOf([text]).slice(0, searchWordsMax);
  // A prefix of another word adds nothing.
  const needed = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
  if (needed.length === 0) return undefined;
  const mark = storeMark(storeId);
  const query = (some: readonly string[]) => some.map((word) => `'${mark}${word}':*`).join(" & ");
  const longest = needed.toSorted((one, other) => other.length - one.length).slice(0, indexedWordsMax);
  return { all: query(needed), indexed: query(longest) };
}
