import { describe, expect, test } from "vitest";
import { CachedFor, cachedWith } from "../../src/lib/cached.js";
import { stopClock } from "../support/clock.js";

/** Loads numbers that count up, each when the test gives it. */
function numbers() {
  const given: ((error?: Error) => void)[] = [];
  const load = () => {
    const number = given.length + 1;
    return new Promise<number>((resolve, reject) => given.push((error) => (error ? reject(error) : resolve(number))));
  };
  return { given, load };
}

describe("what is cached for a time", () => {
  test("answers equal calls from when its loading began, also while it is loaded", async () => {
    const clock = stopClock();
    const cached = new CachedFor<number>(1_000, 10);
    const { given, load } = numbers();
    const both = [cached.get("a", load), cached.get("a", load)];
    clock.pass(600);
    given[0]?.();
    expect(await Promise.all(both)).toEqual([1, 1]);
    clock.pass(399);
    expect(await cached.get("a", load)).toBe(1);
    clock.pass(1);
    const [later, other] = [cached.get("a", load), cached.get("b", load)];
    given[1]?.();
    given[2]?.();
    expect(await Promise.all([later, other])).toEqual([2, 3]);
  });

  test("is loaded again after a failure, without a value, once it is forgotten, and where others were asked for since", async () => {
    const cached = new CachedFor<number | undefined>(60_000, 2);
    await expect(cached.get("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await cached.get("a", async () => undefined)).toBe(undefined);
    expect(await cached.get("a", async () => 1)).toBe(1);
    expect(await cached.get("a", async () => 2)).toBe(1);
    cached.forget("a");
    expect(await cached.get("a", async () => 3)).toBe(3);
    for (const key of ["b", "c"]) await cached.get(key, async () => 0);
    expect(await cached.get("a", async () => 4)).toBe(4);
  });

  test("is not kept where it is forgotten while it is loaded", async () => {
    const cached = new CachedFor<number>(60_000, 2);
    const { given, load } = numbers();
    const loading = cached.get("a", load);
    cached.forget("a");
    given[0]?.();
    expect(await loading).toBe(1);
    expect(await cached.get("a", async () => 5)).toBe(5);
  });

  test("does not keep a caller waiting that may not wait for another's load", async () => {
    const cached = new CachedFor<number>(60_000, 2);
    const { given, load } = numbers();
    const first = cached.get("a", load);
    expect(await cached.get("a", async () => 7, { waits: false })).toBe(7);
    expect(await cached.get("a", load, { waits: false })).toBe(7);
    given[0]?.();
    expect(await first).toBe(1);
    expect(given).toHaveLength(1);
  });
});

test("what is cached with an object is made once for it, and again where it failed", async () => {
  const [one, other] = [{}, {}];
  let made = 0;
  const make = () => (made += 1);
  expect([cachedWith(one, "a", make), cachedWith(one, "a", make), cachedWith(one, "b", make)]).toEqual([1, 1, 2]);
  expect(cachedWith(other, "a", make)).toBe(3);
  await expect(cachedWith(one, "c", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await cachedWith(one, "c", async () => 4)).toBe(4);
});
