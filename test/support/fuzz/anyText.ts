import fc from "fast-check";

const surrogatesFrom = 0xd800;
const surrogates = 0x800;
const codePointsMax = 0x10ffff;

/** Any Unicode character, without halves of surrogate pairs. Its way back lets fast-check add the strings that it knows to be dangerous. */
const character = fc.integer({ min: 0, max: codePointsMax - surrogates }).map(
  (index) => String.fromCodePoint(index < surrogatesFrom ? index : index + surrogates),
  (text) => {
    const codePoint = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (codePoint === undefined || text !== String.fromCodePoint(codePoint)) throw new Error("Not a character.");
    return codePoint < surrogatesFrom ? codePoint : codePoint - surrogates;
  },
);

/**
 * Any well-formed text, as of `fc.string({ unit: "binary" })`, which builds a table of all 1.1 million characters: that takes a
 * second of CPU time, and the table stays in memory.
 */
export function anyText(constraints: Omit<fc.StringConstraints, "unit"> = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...constraints });
}
