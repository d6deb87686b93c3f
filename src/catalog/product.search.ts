import { createHash } from "node:crypto";

/** A longer search is refused: taking one of megabytes apart would keep others waiting. */
export const searchCharactersMax = 1_000;
/** A word of more characters than this is found by its beginning; PostgreSQL's limit for a lexeme is 2,046 bytes. */
const wordCharactersMax = 64;
/** A search of more words than this is looked up by the first of them; it bounds the cost of a query. */
const searchWordsMax = 16;
/** How many words of a search are looked up in the index. Each may stand in all products, and takes milliseconds then. */
const indexedWordsMax = 3;
/** Short, since it is stored with each word. Stores that happen to share a mark only read each other's entries. */
const markLength = 6;

/** A search as PostgreSQL tsqueries. */
export interface SearchQuery {
  /** What a product has to match: every word searched for begins a word of the product. */
  readonly all: string;
  /** The longest words of it, which tend to be the rarest: what to look up in the index. */
  readonly indexed: string;
}

/**
 * The words by which a product is found, those of its title and sku, as one text: each with a space before it, none
 * with anything but letters and digits.
 */
export function searchText(...texts: readonly string[]): string {
  let text = "";
  for (const word of wordsOf(texts)) text += ` ${word}`;
  return text;
}

/**
 * What each stored word of a store begins with. So no two stores share an entry of the index, and a word that is frequent
 * in one does not slow the searches of another.
 */
export function storeMark(storeId: string): string {
  return createHash("sha256").update(storeId).digest("hex").slice(0, markLength);
}

/** Undefined where the text holds no word, so that nothing can match. */
export function searchQuery(storeId: string, text: string): SearchQuery | undefined {
  const words = [...wordsOf([text])].slice(0, searchWordsMax);
  // What begins a word that is searched for as well is found with it.
  const needed = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)));
  if (needed.length === 0) return undefined;
  const mark = storeMark(storeId);
  const query = (some: readonly string[]) => some.map((word) => `'${mark}${word}':*`).join(" & ");
  const longest = needed.toSorted((one, other) => other.length - one.length).slice(0, indexedWordsMax);
  return { all: query(needed), indexed: query(longest) };
}

/**
 * Words are lower-cased and without accents. Runs of letters and runs of digits are words of their own, so that `12CD`
 * finds the sku `AB12CD`.
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

/** Most titles and skus are ASCII, where decomposing them and asking for Unicode's classes would be wasted work. */
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
