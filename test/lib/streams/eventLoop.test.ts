import { beforeEach, describe, expect, test } from "vitest";
import { yieldAfterBytes, noteConnection, yieldUntilNoNewConnections } from "../../../src/lib/streams/eventLoop.js";
import { stopClock } from "../../support/clock.js";

const piece = 64 * 1024;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** How many pieces this turn takes. */
function piecesTaken(): number {
  let pieces = 1;
  while (yieldAfterBytes(piece) === undefined) pieces += 1;
  return pieces;
}

beforeEach(async () => {
  for (let turn = 0; turn < 2; turn += 1) {
    void yieldAfterBytes(piece); // a turn ends that has taken something
    await nextTurn();
  }
});

test("a turn takes a quarter of a megabyte, whatever the size of the pieces", async () => {
  expect(piecesTaken()).toBe(4);
  await nextTurn();
  expect(yieldAfterBytes(4 * piece)).toBeInstanceOf(Promise);
});

test("the next turn goes on", async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    piecesTaken();
    await yieldAfterBytes(piece);
  }
  expect(piecesTaken()).toBe(4);
});

test("a turn that accepts a connection takes a single piece, and so does the next, in which others may arrive", async () => {
  noteConnection();
  expect(piecesTaken()).toBe(1);
  await nextTurn();
  expect(piecesTaken()).toBe(1);
  await nextTurn();
  expect(piecesTaken()).toBe(4);
});

describe("work that can wait while others connect", () => {
  test("begins once a turn accepts no connection, in the order of its callers, one in each turn", async () => {
    const begun: number[] = [];
    const work = [1, 2, 3].map(async (caller) => {
      await yieldUntilNoNewConnections();
      begun.push(caller);
    });
    for (let turn = 0; turn < 5; turn += 1) {
      noteConnection();
      await nextTurn();
    }
    expect(begun).toEqual([]);
    const seen: number[] = [];
    while (begun.length < 3) {
      await nextTurn();
      seen.push(begun.length);
    }
    expect(begun).toEqual([1, 2, 3]);
    expect(seen.filter((count) => count > 0)).toEqual([1, 2, 3]);
    await Promise.all(work);
  });

  test("waits for a quarter of a second at most", async () => {
    const clock = stopClock();
    let hasBegun = false;
    const work = yieldUntilNoNewConnections().then(() => (hasBegun = true));
    const connect = async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        noteConnection();
        await nextTurn();
      }
    };
    clock.pass(249);
    await connect();
    expect(hasBegun).toBe(false);
    clock.pass(1);
    await connect();
    expect(hasBegun).toBe(true);
    await work;
  });
});
