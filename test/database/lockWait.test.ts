import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { LockedError, whenUnlocked } from "../../src/database/shares/lockWait.js";
import { AppError } from "../../src/errors.js";

const refusal = () => new AppError("UNAVAILABLE", "Another is at it.", { retryAfterSeconds: 1 });

test("a lock is granted first come, first served, and only one caller tries at a time", async () => {
  let isHeld = true;
  let [trying, attempts] = [0, 0];
  const order: number[] = [];
  const call = (caller: number) =>
    whenUnlocked(
      "order",
      async () => {
        trying += 1;
        expect(trying).toBe(1);
        await sleep(1);
        trying -= 1;
        attempts += 1;
        if (isHeld) throw new LockedError();
        order.push(caller);
      },
      { refusal },
    );
  const first = call(0);
  await expect.poll(() => attempts).toBeGreaterThan(0); // it has found the lock held
  const others = [1, 2, 3].map(call);
  const before = attempts;
  await expect.poll(() => attempts).toBeGreaterThan(before);
  isHeld = false;
  await Promise.all([first, ...others]);
  expect(order).toEqual([0, 1, 2, 3]);
});

test("a caller that waits too long is refused", async () => {
  const locked = () => Promise.reject(new LockedError());
  await expect(whenUnlocked("vain", locked, { waitMs: 30, refusal })).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("a caller that has disconnected stops trying", async () => {
  const caller = new AbortController();
  let attempts = 0;
  const waiting = whenUnlocked(
    "gone",
    async () => {
      attempts += 1;
      caller.abort();
      throw new LockedError();
    },
    { refusal, signal: caller.signal },
  );
  await expect(waiting).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(attempts).toBe(1);
});

test("other errors of an attempt are thrown at once", async () => {
  await expect(whenUnlocked("error", () => Promise.reject(new Error("broken")), { refusal })).rejects.toThrow("broken");
});

test("a held lock is tried a few times a second, after growing pauses", async () => {
  let attempts = 0;
  const locked = () => {
    attempts += 1;
    return Promise.reject(new LockedError());
  };
  await expect(whenUnlocked("pauses", locked, { waitMs: 300, refusal })).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(attempts).toBeLessThan(12);
});
