import { expect, test } from "vitest";
import { GroupCommit, type Waiting } from "../../src/lib/groupCommit.js";

/** A queue of numbers, whose groups of three at most are answered by `commit` when the test ends them. */
function numbersOf() {
  const begun: { readonly numbers: readonly number[]; readonly end: (error?: Error) => void }[] = [];
  const queue = new GroupCommit<number, string>({
    sizeOf: () => 3,
    commit: (group: readonly Waiting<number, string>[], key) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => {
          if (error !== undefined) return reject(error);
          for (const { item, resolve: answer } of group) answer(`${key} ${item}`);
          resolve();
        };
        begun.push({ numbers: group.map(({ item }) => item), end });
      }),
  });
  return { queue, begun, turn: () => new Promise((resolve) => setImmediate(resolve)) };
}

test("items that come together are one group, and those that come meanwhile share the next ones", async () => {
  const { queue, begun, turn } = numbersOf();
  const answers = [1, 2].map((item) => queue.add("o", "a", item));
  await turn();
  answers.push(...[3, 4, 5, 6].map((item) => queue.add("o", "a", item)));
  await turn();
  expect(begun.map(({ numbers }) => numbers)).toEqual([[1, 2]]);
  for (const at of [0, 1, 2]) {
    await expect.poll(() => begun.length).toBe(at + 1);
    begun[at]?.end();
  }
  expect(await Promise.all(answers)).toEqual([1, 2, 3, 4, 5, 6].map((item) => `a ${item}`));
  expect(begun.map(({ numbers }) => numbers)).toEqual([[1, 2], [3, 4, 5], [6]]);
  await turn();
  expect(queue.isBusy("a")).toBe(false);
});

test("another key does not wait, and a group that fails refuses its own items alone", async () => {
  const { queue, begun, turn } = numbersOf();
  const [one, other] = [queue.add("o", "a", 1), queue.add("o", "b", 2)];
  await turn();
  const later = queue.add("o", "a", 3);
  begun[1]?.end();
  expect(await other).toBe("b 2");
  begun[0]?.end(new Error("no"));
  await expect(one).rejects.toThrow("no");
  await expect.poll(() => begun.length).toBe(3);
  begun[2]?.end();
  expect(await later).toBe("a 3");
});

test("an owner of keys has at most half of all items that are not answered yet", async () => {
  const { queue } = numbersOf();
  const add = (owner: string, key: string, count: number) =>
    Array.from({ length: count }, () => void queue.add(owner, key, 1));
  const refused = { code: "UNAVAILABLE", retryAfterSeconds: 1 };
  add("o", "a", 1_500);
  add("o", "b", 1_000);
  await expect(queue.add("o", "c", 1)).rejects.toMatchObject(refused);
  add("p", "d", 2_500);
  await expect(queue.add("q", "e", 1)).rejects.toMatchObject(refused);
});
