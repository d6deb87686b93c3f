import { expect, onTestFinished, test, vi } from "vitest";
import { createLiveFeed } from "../../../src/analytics/feed/feed.js";
import { AppError } from "../../../src/errors.js";
import { analytics, heldReadings } from "../../support/figures/feed.js";

test("subscribers that arrive during a read share the next one if the show has changed meanwhile", async () => {
  const { read, readings } = heldReadings();
  const feed = createLiveFeed({ read });
  const first = feed.watch("store", "show");
  feed.changed("store", "show");
  const others = [1, 2, 3].map(() => feed.watch("store", "show"));
  readings[0]?.give({ ...analytics, name: "old" });
  expect((await (await first).next()).value.name).toBe("old");
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.give({ ...analytics, name: "new" });
  for (const watcher of others) expect((await (await watcher).next()).value.name).toBe("new");
  expect(readings).toHaveLength(2);
  await feed.close();
});

test("after a failed first read, the next subscribers cause another one", async () => {
  const { read, readings } = heldReadings();
  const feed = createLiveFeed({ read });
  const first = feed.watch("store", "show");
  const second = feed.watch("store", "show");
  readings[0]?.fail(new AppError("UNAVAILABLE", "Not now."));
  await expect(first).rejects.toThrow("Not now.");
  await expect.poll(() => readings.length).toBe(2);
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
  let reads = 0;
  const feed = createLiveFeed({
    intervalMs: 10,
    read: () => Promise.resolve({ ...analytics, durationSeconds: (reads += 1) }),
  });
  const watcher = await feed.watch("store", "show");
  await watcher.next();
  feed.changed("store", "show");
  await watcher.next();
  const hourAgo = Date.now() - 3_600_000;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => hourAgo);
  onTestFinished(() => clock.mockRestore());
  feed.changed("store", "show");
  expect((await watcher.next()).value.durationSeconds).toBe(3);
  await feed.close();
});
