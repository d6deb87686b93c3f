import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createLiveFeed } from "../../../src/figures/feed/feed.js";
import { AppError } from "../../../src/errors.js";
import { ago, stopTimers, type Timers } from "../../support/clock.js";
import { analytics, heldReadings } from "../../support/figures/feed.js";

/** As stopTimers; also without time passing, one reading of the clock comes after the other. */
function stopTimersPrecisely(): Timers {
  const clock = stopTimers();
  const now = performance.now.bind(performance);
  let readings = 0;
  const spy = vi.spyOn(performance, "now").mockImplementation(() => now() + (readings += 1) / 10_000);
  onTestFinished(() => spy.mockRestore());
  return clock;
}

describe("the feed", () => {
  test("reads a show once for all subscribers, and at most once per interval", async () => {
    const clock = stopTimers();
    const intervalMs = 200;
    let reads = 0;
    const feed = createLiveFeed({
      intervalMs,
      read: () => {
        reads += 1;
        return Promise.resolve(analytics);
      },
    });
    const opened = [1, 2, 3].map(() => feed.watch("store", "show"));
    await clock.run(intervalMs);
    for (const watcher of await Promise.all(opened)) await watcher.next();
    expect(reads).toBe(2); // of the first, and one for the others, who came after it had begun
    for (let ms = 0; ms < 5 * intervalMs; ms += 5) {
      feed.changed("store", "show");
      await clock.run(5);
    }
    await feed.close();
    expect(reads).toBe(2 + 6); // one at once, and at the end of each interval
  });

  test("reads a LIVE show again that does not change, and no other: viewers leave without an event", async () => {
    const clock = stopTimers();
    const reads = { LIVE: 0, ENDED: 0 };
    for (const status of ["LIVE", "ENDED"] as const) {
      const read = () => {
        reads[status] += 1;
        return Promise.resolve({ ...analytics, status });
      };
      const feed = createLiveFeed({ intervalMs: 1, quietMs: 20, read });
      const watcher = await feed.watch("store", "show");
      await watcher.next();
      await clock.run(99);
      await feed.close();
    }
    expect(reads).toEqual({ LIVE: 5, ENDED: 1 });
  });

  test("releases the place of a subscriber that leaves while it waits", async () => {
    const clock = stopTimers();
    let reads = 0;
    const feed = createLiveFeed({
      intervalMs: 1,
      watchersMax: 1,
      read: () => {
        reads += 1;
        return Promise.resolve(analytics);
      },
    });
    const watcher = await feed.watch("store", "show");
    await expect(feed.watch("store", "show")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await watcher.next();
    const waiting = watcher.next();
    await watcher.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    feed.changed("store", "show");
    await clock.run(20);
    expect(reads).toBe(1);
    await (await feed.watch("store", "show")).return?.(); // its place is free again
    await feed.close();
  });

  test("limits the subscriptions of each store", async () => {
    const feed = createLiveFeed({ watchersOfStoreMax: 2, read: () => Promise.resolve(analytics) });
    const first = await feed.watch("store", "show");
    await feed.watch("store", "another show");
    await expect(feed.watch("store", "show")).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfterSeconds: 10 });
    await feed.watch("another store", "show");
    expect(feed.watchers).toBe(3);
    await first.return?.();
    await feed.watch("store", "show"); // the place is free again
    await feed.close();
    expect(feed.watchers).toBe(0);
  });

  test("neither counts nor reads for a client that left before it subscribed", async () => {
    const feed = createLiveFeed({ read: () => Promise.reject(new Error("nobody is there to read for")) });
    const watcher = await feed.watch("store", "show", { signal: AbortSignal.abort() });
    expect(feed.watchers).toBe(0);
    expect(await watcher.next()).toEqual({ value: undefined, done: true });
    await feed.close();
  });

  test("once closed refuses subscriptions, and ends those without a first value", async () => {
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ read });
    const early = feed.watch("store", "show");
    await feed.close();
    await expect(feed.watch("store", "show")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    readings[0]?.give(analytics);
    expect(await (await early).next()).toEqual({ value: undefined, done: true });
    expect(feed.watchers).toBe(0);
  });

  test("drops a first reading that a later one has overtaken", async () => {
    const clock = stopTimers();
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ intervalMs: 1, read });
    const [first, second] = [feed.watch("store", "show"), feed.watch("store", "show")];
    await clock.run(5); // longer than the interval
    readings[0]?.give(analytics);
    const watcher = await first;
    feed.changed("store", "show");
    await clock.run(5);
    expect(readings).toHaveLength(3);
    readings[2]?.give({ ...analytics, name: "new" });
    await expect.poll(async () => (await watcher.next()).value?.name).toBe("new");
    readings[1]?.give({ ...analytics, name: "old" });
    expect((await (await second).next()).value.name).toBe("new");
    await feed.close();
  });

  test("gives new subscribers a read that began after they came, four times a second at most", async () => {
    const clock = stopTimersPrecisely();
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ intervalMs: 1_000, read });
    const arrive = () => Array.from({ length: 100 }, () => feed.watch("store", "show"));
    const namesOf = async (opened: ReturnType<typeof arrive>) =>
      new Set(await Promise.all(opened.map(async (one) => (await (await one).next()).value.name)));
    const first = feed.watch("store", "show");
    const arriving = arrive();
    readings[0]?.give({ ...analytics, name: "first" });
    expect((await (await first).next()).value.name).toBe("first");
    await clock.run(100);
    arriving.push(...arrive()); // they wait with the others
    await clock.run(150);
    readings[1]?.give({ ...analytics, name: "second" });
    expect(await namesOf(arriving)).toEqual(new Set(["second"]));
    await clock.run(500);
    const later = arrive();
    readings[2]?.give({ ...analytics, name: "third" });
    await clock.run(250);
    readings[3]?.give({ ...analytics, name: "fourth" });
    expect(await namesOf(later)).toEqual(new Set(["third", "fourth"]));
    expect(readings).toHaveLength(4);
    await feed.close();
  });

  test("gives a new subscriber no read for all that began before it came, but a later one", async () => {
    const clock = stopTimers();
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ read });
    const first = feed.watch("store", "show");
    readings[0]?.give(analytics);
    await (await first).next();
    feed.changed("store", "show");
    await clock.run(1); // it is being read for all
    const second = feed.watch("store", "show"); // opened after the receipt of another event
    const third = feed.watch("store", "show");
    readings[1]?.give({ ...analytics, name: "old" });
    expect((await (await first).next()).value.name).toBe("old");
    feed.changed("store", "show");
    await clock.run(1_000);
    readings[2]?.give({ ...analytics, name: "new" });
    readings[3]?.give({ ...analytics, name: "new" });
    for (const opened of [second, third]) expect((await (await opened).next()).value.name).toBe("new");
    await feed.close();
  });

  test("reads again after the previous reading, and then sees changes made during it", async () => {
    const clock = stopTimers();
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ intervalMs: 1, read });
    const first = feed.watch("store", "show");
    readings[0]?.give(analytics);
    await (await first).next();
    feed.changed("store", "show");
    await clock.run(1);
    feed.changed("store", "show");
    await clock.run(20);
    expect(readings).toHaveLength(2);
    readings[1]?.give({ ...analytics, name: "old" });
    await clock.run(1);
    expect(readings).toHaveLength(3);
    readings[2]?.give({ ...analytics, name: "new" });
    await expect.poll(async () => (await (await first).next()).value?.name).toBe("new");
    await feed.close();
  });

  test("keeps subscriptions during an outage, and ends them after a permanent error", async () => {
    const clock = stopTimers();
    const { read, readings } = heldReadings();
    const feed = createLiveFeed({ intervalMs: 1, read });
    const first = feed.watch("store", "show");
    readings[0]?.give(analytics);
    const watcher = await first;
    await watcher.next();
    feed.changed("store", "show");
    await clock.run(1);
    const waiting = watcher.next();
    readings[1]?.fail(new AppError("UNAVAILABLE", "Not now."));
    await clock.run(1); // though nothing changed
    readings[2]?.give({ ...analytics, name: "later" });
    expect((await waiting).value.name).toBe("later");
    feed.changed("store", "show");
    await clock.run(1);
    readings[3]?.fail(new AppError("LIVE_STREAM_NOT_FOUND", "Gone."));
    await expect(watcher.next()).rejects.toThrow("Gone.");
    expect(feed.watchers).toBe(0);
  });

  test("gives a slow subscriber only the latest figures", async () => {
    const clock = stopTimers();
    let reads = 0;
    const read = () => Promise.resolve({ ...analytics, durationSeconds: (reads += 1) });
    const feed = createLiveFeed({ intervalMs: 1, read });
    const watcher = await feed.watch("store", "show");
    for (let change = 0; change < 3; change += 1) {
      feed.changed("store", "show");
      await clock.run(2);
    }
    expect(reads).toBe(4);
    expect((await watcher.next()).value.durationSeconds).toBe(4);
    await feed.close();
    expect(await watcher.next()).toEqual({ value: undefined, done: true });
  });
});

test("subscribers that arrive during a read share the next one", async () => {
  const clock = stopTimersPrecisely();
  const { read, readings } = heldReadings();
  const feed = createLiveFeed({ read });
  const first = feed.watch("store", "show");
  const others = [1, 2, 3].map(() => feed.watch("store", "show"));
  readings[0]?.give({ ...analytics, name: "old" });
  expect((await (await first).next()).value.name).toBe("old");
  await clock.run(250);
  readings[1]?.give({ ...analytics, name: "new" });
  for (const watcher of others) expect((await (await watcher).next()).value.name).toBe("new");
  expect(readings).toHaveLength(2);
  await feed.close();
});

test("after a failed first read, the next subscribers cause another one", async () => {
  const clock = stopTimers();
  const { read, readings } = heldReadings();
  const feed = createLiveFeed({ read });
  const first = feed.watch("store", "show");
  const second = feed.watch("store", "show");
  readings[0]?.fail(new AppError("UNAVAILABLE", "Not now."));
  await expect(first).rejects.toThrow("Not now.");
  await clock.run(250);
  readings[1]?.give(analytics);
  expect((await (await second).next()).value).toBe(analytics);
  await feed.close();
});

test("a subscription whose first read fails releases its place", async () => {
  const gone = new AppError("LIVE_STREAM_NOT_FOUND", "Gone.");
  const feed = createLiveFeed({ watchersMax: 1, read: () => Promise.reject(gone) });
  for (let times = 0; times < 2; times += 1) await expect(feed.watch("store", "show")).rejects.toBe(gone);
  expect(feed.watchers).toBe(0);
  await feed.close();
});

test("a subscription ends with the error for which its signal is aborted, and no other one does", async () => {
  const feed = createLiveFeed({ read: () => Promise.resolve(analytics) });
  const [ended, left] = [new AbortController(), new AbortController()];
  const watchers = await Promise.all(
    [ended, left, new AbortController()].map(({ signal }) => feed.watch("store", "show", { signal })),
  );
  for (const watcher of watchers) await watcher.next();
  const [first, second] = watchers.map((watcher) => watcher.next());
  const error = new AppError("UNAUTHENTICATED", "The access token is not valid.");
  ended.abort(error);
  left.abort(new AppError("CLIENT_CLOSED_REQUEST", "The client closed the connection."));
  await expect(first).rejects.toBe(error);
  expect(await second).toEqual({ value: undefined, done: true });
  expect(feed.watchers).toBe(1);
  await feed.close();
});

test("subscriptions continue when the machine's clock is set back", async () => {
  const clock = stopTimers();
  let reads = 0;
  const feed = createLiveFeed({
    intervalMs: 10,
    read: () => Promise.resolve({ ...analytics, durationSeconds: (reads += 1) }),
  });
  const watcher = await feed.watch("store", "show");
  await watcher.next();
  feed.changed("store", "show");
  await clock.run(10);
  await watcher.next();
  vi.setSystemTime(ago(3_600_000));
  feed.changed("store", "show");
  await clock.run(10);
  expect((await watcher.next()).value.durationSeconds).toBe(3);
  await feed.close();
});
