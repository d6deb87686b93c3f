/** Those of most spreadsheets, in the order of their use; each is read by the platform itself. */
const encodings = ["windows-1252", "windows-1250", "macintosh", "windows-1251", "shift_jis", "gb18030", "euc-kr"];
const shownMax = 3;
/** Code units of the words that show how a text would read. */
const sampleUnits = 30;
const bytesMax = 2_000;

/** What windows-1252 has from 0x80 to 0x9F. */
const windows1252 = Array.from("€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ");

interface Reading {
  readonly encoding: string;
  readonly sample: string;
  /** The share of letters among the characters beyond ASCII, less what texts of shops rarely have. */
  readonly likelihood: number;
}

/** The likely encodings of bytes that are not UTF-8, each with how a word of them would read, most likely first. */
export function likelyEncodings(bytes: Uint8Array): readonly { readonly encoding: string; readonly sample: string }[] {
  const readings = encodings.flatMap((encoding) => readingOf(bytes.subarray(0, bytesMax), encoding) ?? []);
  const best = readings.toSorted((a, b) => b.likelihood - a.likelihood);
  return best.filter(({ likelihood }, at) => at === 0 || likelihood > 0.3).slice(0, shownMax);
}

function readingOf(bytes: Uint8Array, encoding: string): Reading | undefined {
  const text = decoded(bytes, encoding);
  const beyond = Array.from(text).filter((character) => character > "\u007f");
  const word = text.split(/[\s,;"]/u).find((each) => /\P{ASCII}/u.test(each)) ?? "";
  if (beyond.length === 0) return undefined;
  const count = (pattern: RegExp) => beyond.filter((character) => pattern.test(character)).length;
  const penalty = 2 * count(/[\p{Cc}\u{fffd}]/u) + count(/[\p{Sm}\p{So}\p{Sk}]/u) + oddCapitals(text) / 2;
  const likelihood = (count(/[\p{L}€–—„“”‚‘’°²³®™…«»·•]/u) - penalty) / beyond.length;
  return { encoding, sample: word.slice(0, sampleUnits), likelihood };
}

/** Some versions of Node.js decode windows-1252 as if it were ISO 8859-1. */
function decoded(bytes: Uint8Array, encoding: string): string {
  const text = new TextDecoder(encoding).decode(bytes);
  if (encoding !== "windows-1252") return text;
  return text.replaceAll(/[\u{80}-\u{9f}]/gu, (character) => windows1252[character.charCodeAt(0) - 0x80] ?? character);
}

/** Capitals within words, as a wrong encoding gives. */
function oddCapitals(text: string): number {
  return [...text.matchAll(/\p{Ll}[^\p{ASCII}]/gu)].filter(([pair]) => /\p{Lu}$/u.test(pair)).length;
}
