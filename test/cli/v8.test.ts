import { expect, test } from "vitest";
import { threadsOfV8 } from "../../src/cli/serve/v8.js";

const sorted = (ids: readonly number[]) => ids.map(String).toSorted();

test.each([
  ["as many digits", 4_100, [4_101, 4_102, 4_103, 4_104, 4_105]],
  ["a container's first process", 1, [2, 3, 4, 5, 6]],
  ["more digits", 9_998, [9_999, 10_000, 10_001, 10_002, 10_003]],
  ["ids that begin anew at 300", 32_766, [32_767, 300, 301, 302, 303]],
])("the threads of V8 are those that started after the main thread: %s", (_, main, threads) => {
  const later = [11, 12, 13, 14].map((after) => (threads.at(-1) ?? 0) + after);
  expect(threadsOfV8(sorted([main, ...threads, ...later]), main)).toEqual(threads);
});
