/** A longer search is refused: taking one of megabytes apart would keep others waiting. */
export const searchCharactersMax = 1_000;
/** A word of more characters than this is found by its beginning; PostgreSQL's limit for a lexeme is 2,046 bytes. */
const wordCharactersMax = 64;
/** A search of more words than this is looked up by the first of them; it bounds the cost of a query. */
const searchWordsMax = 16;

/**
 * The words by which a product is found: those of its title and sku, lower-cased and without accents.
 * Runs of letters and runs of digits are words of their own, so that `12CD` finds the sku `AB12CD`.
 */
export function searchWords(...texts: readonly string[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    for (const word of split(text))
      words.add(word.length > wordCharactersMax ? word.slice(0, wordCharactersMax).toWellFormed() : word);
  }
  return [...words];
}

/**
 * The condition of a search as a PostgreSQL tsquery: every word searched for must begin a word of the product.
 * Undefined where the text holds no word, so that nothing can match. Words hold only letters and digits: nothing to escape.
 */
export function searchQuery(text: string): string | undefined {
  const words = searchWords(text).slice(0, searchWordsMax);
  return words.length === 0 ? undefined : words.map((word) => `'${word}':*`).join(" & ");
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
