import { createHash } from "node:crypto";

export const searchCharactersMax = 1_000;
/** Longer words are indexed by their beginning: PostgreSQL takes lexemes of at most 2,046 bytes. */
const wordCharactersMax = 64;
const searchWordsMax = 16;
/** A word of all products takes milliseconds to look up. */
const indexedWordsMax = 3;
/** Short, as each word is stored with it; it need not be unique. */
const markLength = 6;

export interface SearchQuery {
  /** Each must begin a word of the product. */
  readonly all: string;
  /** The longest words, which tend to be the rarest. */
  readonly indexed: string;
}

/** Words of letters and digits only, each after a space. */
export function searchText(...texts: readonly string[]): string {
  return wordsOf(texts).reduce((text, word) => `${text} ${word}`, "");
}

/** Prefixes a store's words in the index, so that words frequent in one store do not slow others. */
export function storeMark(storeId: string): string {
  return createHash("sha256").update(storeId).digest("hex").slice(0, markLength);
}

/** Undefined for a text without words, which nothing can match. */
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

/**
 * Words in lower case, without accents. Runs of letters and of digits are separate words: `12CD` finds the sku
 * `AB12CD`.
 */
function wordsOf(texts: readonly string[]): string[] {
  const words: string[] = [];
  for (const text of texts) {
    for (const word of split(text))
      words.push(word.length > wordCharactersMax ? word.slice(0, wordCharactersMax).toWellFormed() : word);
  }
  return words.length > comparedMax
    ? [...new Set(words)]
    : words.filter((word, index) => words.indexOf(word) === index);
}

/** Comparing so few words with each other is faster than a set. */
const comparedMax = 16;

const asciiOnly = /^[\0-\u007f]*$/u;
const asciiWords = /[a-z]+|\d+/gu;

/** Most titles and skus are ASCII, which needs neither normalization nor Unicode classes. */
function split(text: string): readonly string[] {
  if (asciiOnly.test(text)) return text.toLowerCase().match(asciiWords) ?? [];
  return (
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? []
  );
}
