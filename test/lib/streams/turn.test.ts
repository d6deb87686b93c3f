import { setImmediate } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { nextTurnAfter, noteConnection } from "../../../src/lib/streams/turn.js";

const piece = 64 * 1024;

/** How many pieces this turn takes. */
function piecesTaken(): number {
  let pieces = 1;
  while (nextTurnAfter(piece) === undefined) pieces += 1;
  return pieces;
}

beforeEach(async () => {
  for (let turn = 0; turn < 2; turn += 1) {
    void nextTurnAfter(piece); // a turn ends that has taken something
    await setImmediate();
  }
});

test("a turn takes a quarter of a megabyte, whatever the size of the pieces", async () => {
  expect(piecesTaken()).toBe(4);
  await setImmediate();
  expect(nextTurnAfter(4 * piece)).toBeInstanceOf(Promise);
});

test("the next turn goes on", async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    piecesTaken();
    await nextTurnAfter(piece);
  }
  expect(piecesTaken()).toBe(4);
});

test("a turn that accepts a connection takes a single piece, and so does the next, in which others may arrive", async () => {
  noteConnection();
  expect(piecesTaken()).toBe(1);
  await setImmediate();
  expect(piecesTaken()).toBe(1);
  await setImmediate();
  expect(piecesTaken()).toBe(4);
});
