import { parsePrice } from "./prices.js";

/** Without blanks, hyphens and underscores: spreadsheets and systems write the rest in many ways. */
const yes = `true yes y on wahr vrai verdadero verdadeiro vero waar prawda sant sand ja oui sí si sim tak instock available active enabled
  visible published publish online unlisted unlimited continue notify preorder backorder onbackorder availablefororder
  limitedavailability limitedstock madetoorder onlineonly presale`;
const no = `false no n off falsch faux falso onwaar fałsz falsz falskt falsk nein non não nao nee nie nej outofstock unavailable inactive
  disabled invisible hidden unpublished private pending offline draft archived deny soldout discontinued markassold reserved
  instoreonly`;

const flags = new Map<string, boolean>([
  ...yes.split(/\s+/u).map((word) => [word, true] as const),
  ...no.split(/\s+/u).map((word) => [word, false] as const),
]);

/** No word is longer; a longer text would be costly to compare. */
const charactersMax = 64;

/**
 * Whether something can be bought, by a word of several languages, a term of schema.org, or a number in stock; null if there
 * is none, the text if it is neither.
 *
 * @param isCount whether numbers are stock, and not only 1 and 0
 */
export function parseFlag(text: string, isCount = true): boolean | string | null {
  if (text === "") return null;
  const written = flags.get(text);
  if (written !== undefined) return written;
  if (text.length > charactersMax) return text;
  const word = text
    .toLowerCase()
    .normalize("NFC")
    .replace(/^https?:\/\/(?:www\.)?schema\.org\//u, "")
    .replaceAll(/[\s_-]+/gu, "");
  const known = flags.get(word);
  if (known !== undefined) return known;
  const number = /^-?\d[\d.,']*$/u.test(text) ? parsePrice(text) : text;
  if (typeof number !== "number" || !(isCount || [1, 0, -1].includes(number))) return text;
  return number > 0;
}
