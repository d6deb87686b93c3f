import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Pieces } from "../../../src/lib/streams/pieces.js";

test("pieces of any lengths come out in order, and again after some were taken", () => {
  const lengths = fc.array(fc.oneof(fc.nat(3), fc.nat(10_000)), { maxLength: 30 });
  const property = fc.property(lengths, fc.nat(30), (all, takenAfter) => {
    const pieces = new Pieces();
    const [pushed, taken]: [Buffer[], Buffer[]] = [[], []];
    for (const [index, length] of all.entries()) {
      const piece = Buffer.alloc(length, index + 1);
      pushed.push(Buffer.from(piece));
      pieces.push(piece);
      if (index === takenAfter) taken.push(pieces.take());
    }
    expect(Buffer.concat([...taken, Buffer.concat(pieces.all())]).equals(Buffer.concat(pushed))).toBe(true);
    expect(pieces.concat().length).toBe(pieces.length);
  });
  fc.assert(property);
});

test("single bytes, and those between large pieces, are kept in few buffers", () => {
  const pieces = new Pieces();
  for (let n = 0; n < 100_000; n += 1) pieces.push(Buffer.from("x"));
  expect(pieces.all().length).toBeLessThan(30);
  for (let n = 0; n < 1_000; n += 1) {
    pieces.push(Buffer.alloc(4_096));
    pieces.push(Buffer.from("x"));
  }
  expect(pieces.all().length).toBeLessThan(2_050);
});
