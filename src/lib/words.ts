/** Longer words are indexed by their beginning, because PostgreSQL takes lexemes of at most 2,046 bytes. */
const wordCharactersMax = 64;

/** Words of letters and digits only, each after a space. */
export function searchText(...texts: readonly string[]): string {
  return wordsOf(texts).reduce((text, word) => `${text} ${word}`, "");
}

/**
 * Words in lower case, without accents. Runs of letters and of digits are separate words: `12CD` finds the sku
 * `AB12CD`.
 */
export function wordsOf(texts: readonly string[]): string[] {
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
