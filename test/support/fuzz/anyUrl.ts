import fc from "fast-check";

const plain = fc.constantFrom(...Array.from("abcxyzABCXYZ0189-._~!$&'()*+,;=:@"));
const escaped = fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }).map(encodeURIComponent);
const characters = fc.array(fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: escaped }), {
  maxLength: 10,
});

/** A part of a URL after its host: nothing at all, or with a character before it that says which. */
const optional = (start: string) =>
  fc.option(characters, { nil: undefined }).map((all) => (all ? [start, ...all] : []));
const path = fc.array(characters, { maxLength: 4 }).map((segments) => segments.flatMap((all) => ["/", ...all]));

/**
 * URLs of the web with a path, a query and a fragment, as of `fc.webUrl`, which takes a second of CPU time once in a process to
 * look for names of JavaScript's objects among the characters of a URL.
 */
export const anyUrl: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom("http", "https"), fc.domain(), path, optional("?"), optional("#"))
  .map(([scheme, host, ...parts]) => `${scheme}://${host}${parts.flat().join("")}`);
