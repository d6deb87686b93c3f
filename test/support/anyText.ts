import fc from "fast-check";

const surrogatesFrom = 0xd800;
const surrogates = 0x800;
const codePointsMax = 0x10ffff;

/** Any Unicode character, without halves of surrogate pairs. */
const character = fc
  .integer({ min: 0, max: codePointsMax - surrogates })
  .map((index) => String.fromCodePoint(index < surrogatesFrom ? index : index + surrogates));

/**
 * Any well-formed text. `fc.string({ unit: "binary" })` is the same, but builds a table of all 1.1 million characters, which
 * takes a second of CPU time and stays in memory.
 */
export function anyText(constraints: Omit<fc.StringConstraints, "unit"> = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...constraints });
}
