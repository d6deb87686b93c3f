import { createHash } from "node:crypto";

export const searchCharactersMax = 1_000;
/** Of longer words the beginning is indexed; PostgreSQL takes lexemes of at most 2,046 bytes. */
const wordCharactersMax = 64;
const searchWordsMax = 16;
/** Words looked up in the index: one that occurs in all products takes milliseconds. */
const indexedWordsMax = 3;
/** Short, as it is stored with each word; it need not be unique. */
const markLength = 6;

export interface SearchQuery {
  /** Every word must begin a word of the product. */
  readonly all: string;
  /** Its longest words, which tend to be the rarest. */
  readonly indexed: string;
}

/** Searchable words, each after a space, of letters and digits only. */
export function searchText(...texts: readonly string[]): string {
  let text = "";
  for (const word of wordsOf(texts)) text += ` ${word}`;
  return text;
}

/** The prefix of a store's words in the index, so that words frequent in one store do not slow others. */
export function storeMark(storeId: string): string {
  return createHash("sha256").update(storeId).digest("hex").slice(0, markLength);
}

/** Undefined if the text has no words, so that nothing can match. */
export function searchQuery(storeId: string, text: string): SearchQuery | undefined {
  const words = [...wordsOf([text])].slice(0, searchWordsMax);
  // A prefix of another word adds nothing.
  const needed = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
  if (needed.length === 0) return undefined;
  const mark = storeMark(storeId);
  const query = (some: readonly string[]) => some.map((word) => `'${mark}${word}':*`).join(" & ");
  const longest = needed.toSorted((one, other) => other.length - one.length).slice(0, indexedWordsMax);
  return { all: query(needed), indexed: query(longest) };
}

/**
 * Lower-cased words without accents. Runs of letters and of digits are separate words: `12CD` finds the sku `AB12CD`.
 */
function wordsOf(texts: readonly string[]): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const word of split(text))
      words.add(word.length > wordCharactersMax ? word.slice(0, wordCharactersMax).toWellFormed() : word);
  }
  return words;
}

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
