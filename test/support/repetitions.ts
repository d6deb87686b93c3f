import { onTestFailed } from "vitest";
import { ofDay } from "./run/tier.js";

/** What patterns and loops may read again and again where it is repeated. */
const units: readonly string[] = [
  " ",
  "\t",
  "\n",
  "\r",
  '"',
  '""',
  "'",
  ",",
  ";",
  "|",
  "/",
  "\\",
  "[",
  "]",
  "{",
  "}",
  "{}",
  "(",
  "=",
  "-",
  ".",
  "0",
  "a",
  "A1",
  "%",
  "%20",
  "@",
  "#",
  "?a=b&",
  "e\u0301\u0323",
  "\u00a0",
  "\ufeff",
  "\u200d",
  "\ud83d\ude00",
  "\ud800",
  "//a.example/",
  " ,",
  '" ',
  '\\"',
  "bearer ",
  "sku=a|",
];

/** Those that a URL or a header can have. */
export const visibleUnits = units.filter((unit) => /^[ -~]+$/u.test(unit));

/**
 * Quadratic time, even at a nanosecond for each step, takes minutes for so long a text, and linear time some ten milliseconds: the
 * time that a test has tells them apart, and nothing is measured.
 */
const longCharacters = 512 * 1024;

/** A text of so many characters. */
export function repeated(unit: string, characters = longCharacters): string {
  return unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters);
}

interface Repetitions {
  /** The longest text that this way in takes. */
  readonly characters?: number | undefined;
  readonly of?: readonly string[];
  /** How many units `npm test` tries, 2 by default. */
  readonly tries?: number;
  /** Tells a target from others that are given other units on the same day. */
  readonly target?: number;
}

/** Gives `work` a long text of each unit. It ends within the test's time where it takes linear time. */
export async function expectLinear(work: (text: string) => unknown, repetitions: Repetitions = {}): Promise<void> {
  let tried: string | undefined;
  onTestFailed(() => {
    if (tried !== undefined) console.error(`Repeated: ${JSON.stringify(tried)}`);
  });
  const { characters, of = units, tries = 2, target } = repetitions;
  for (tried of ofDay(of, Math.ceil(of.length / tries), target)) await work(repeated(tried, characters));
  tried = undefined;
}
