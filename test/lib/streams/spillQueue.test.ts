import * as fc from "fast-check";
import { readdir, readlink } from "node:fs/promises";
import { expect, test } from "vitest";
import { SpillQueue } from "../../../src/lib/streams/spillQueue.js";

const mebibyte = 1024 * 1024;

async function taken(queue: SpillQueue): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of queue.pieces()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Files that this process has open and that have no name. */
async function anonymousFiles(): Promise<number> {
  const names = await readdir("/proc/self/fd");
  const links = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
  return links.filter((link) => /vitrine-[\da-f-]+ \(deleted\)$/u.test(link)).length;
}

test("values come out in order, from memory and from a file, however writes and reads interleave", async () => {
  const step = fc.oneof(fc.string({ maxLength: 40 }), fc.constant("read"), fc.constant("read"));
  const queues = fc.array(fc.tuple(fc.array(step, { maxLength: 40 }), fc.nat(100)), { minLength: 4, maxLength: 8 });
  const passOn = async (steps: readonly string[], bytesMax: number) => {
    const queue = new SpillQueue(bytesMax);
    const pieces = queue.pieces();
    let [pushed, read] = ["", ""];
    for (const text of steps) {
      if (text !== "read") {
        await queue.push(Buffer.from(text));
        pushed += text;
      } else if (Buffer.byteLength(read) < Buffer.byteLength(pushed)) {
        const { value } = await pieces.next();
        read += (value as Buffer).toString("latin1");
      }
    }
    queue.end();
    for await (const piece of pieces) read += piece.toString("latin1");
    expect(Buffer.from(read, "latin1").toString()).toBe(pushed);
  };
  const property = fc.asyncProperty(queues, async (all) => {
    for (const [steps, bytesMax] of all) await passOn(steps, bytesMax);
  });
  await fc.assert(property);
});

test("beyond its memory limit it uses one unnamed file, which is closed at the end", async () => {
  const before = await anonymousFiles();
  const queue = new SpillQueue(mebibyte);
  await queue.push(Buffer.alloc(mebibyte, "a"));
  expect(await anonymousFiles()).toBe(before);
  for (const letter of ["b", "c", "d"]) await queue.push(Buffer.alloc(mebibyte, letter));
  expect(await anonymousFiles()).toBe(before + 1);
  queue.end();
  expect(await taken(queue)).toBe(["a", "b", "c", "d"].map((letter) => letter.repeat(mebibyte)).join(""));
  expect(await anonymousFiles()).toBe(before);
});

test("a waiting reader gets later values, and the end", async () => {
  const queue = new SpillQueue();
  const all = taken(queue);
  await queue.push(Buffer.from("late "));
  await queue.push(Buffer.from("but there"));
  queue.end();
  expect(await all).toBe("late but there");
});

test("a failure of the writer is thrown at once, before queued values; later ends are ignored", async () => {
  const queue = new SpillQueue(4);
  for (const text of ["one", "two", "three"]) await queue.push(Buffer.from(text));
  const pieces = queue.pieces();
  await pieces.next();
  queue.end({ error: new Error("the database is gone") });
  queue.end();
  await expect(pieces.next()).rejects.toThrow("the database is gone");
  expect(await pieces.next()).toMatchObject({ done: true });
});

test("queued values can be discarded, to start again", async () => {
  const queue = new SpillQueue(4);
  for (const text of ["wrong", "wrong too", "x"]) await queue.push(Buffer.from(text));
  queue.clear();
  for (const text of ["right", " and", " long"]) await queue.push(Buffer.from(text));
  queue.end();
  expect(await taken(queue)).toBe("right and long");
});

test("once the reader stops, nothing is kept and the file is closed, even if the writer continues", async () => {
  const before = await anonymousFiles();
  const queue = new SpillQueue(4);
  const pieces = queue.pieces();
  await queue.push(Buffer.from("first"));
  await pieces.next();
  const writing = (async () => {
    for (let round = 0; round < 50; round += 1) await queue.push(Buffer.alloc(1_000));
  })();
  await pieces.return();
  await writing;
  queue.end();
  expect(await anonymousFiles()).toBe(before);
});
