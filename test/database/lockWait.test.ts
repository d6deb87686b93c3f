import { expect, onTestFinished, test, vi } from "vitest";
import { LockedError, retryWhileLocked } from "../../src/database/shares/lockWait.js";
import { AppError } from "../../src/errors.js";
import { stopTimers } from "../support/clock.js";

const refusal = () => new AppError("UNAVAILABLE", "Another is at it.", { retryAfterSeconds: 1 });

test("a lock is granted first come, first served, and only one caller tries at a time", async () => {
  let isHeld = true;
  let [trying, attempts] = [0, 0];
  const order: number[] = [];
  const call = (caller: number) =>
    retryWhileLocked(
      "order",
      async () => {
        trying += 1;
        expect(trying).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
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

test("a caller that has disconnected stops trying", async () => {
  const caller = new AbortController();
  let attempts = 0;
  const waiting = retryWhileLocked(
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
  await expect(retryWhileLocked("error", () => Promise.reject(new Error("broken")), { refusal })).rejects.toThrow(
    "broken",
  );
});

test("a held lock is tried after growing pauses, for 5 seconds: then the caller is refused", async () => {
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5); // neither longer nor shorter than meant
  onTestFinished(() => random.mockRestore());
  const timers = stopTimers();
  let passedMs = 0;
  const triedAfter: number[] = [];
  const locked = () => {
    triedAfter.push(passedMs);
    return Promise.reject(new LockedError());
  };
  const refused = retryWhileLocked("pauses", locked, { refusal }).catch((error: unknown) => error);
  await timers.run(0); // it tries once more, as the first of the queue
  for (; passedMs < 5_250; await timers.run(10)) passedMs += 10;
  expect(triedAfter.slice(0, 9)).toEqual([0, 0, 10, 30, 70, 150, 310, 560, 810]);
  expect(triedAfter.at(-1)).toBe(4_810);
  expect(await refused).toMatchObject({ code: "UNAVAILABLE" });
});
