import { expect, test } from "vitest";
import { startProgress } from "../../../src/cli/terminal/progress.js";
import { stopClock } from "../../support/clock.js";

const streamTo = (written: string[], columns?: number) => ({
  isTTY: columns !== undefined,
  columns: columns ?? 0,
  write: (text: string) => written.push(text) > 0,
});

test("without a terminal, progress is printed in lines with rate and time left", () => {
  const clock = stopClock();
  const lines: string[] = [];
  const progress = startProgress({ label: "importing", total: 4_000, items: "rows" }, streamTo(lines));
  for (let done = 400; done <= 2_000; done += 400) {
    clock.pass(2_000);
    progress.update(done, done);
  }
  expect(lines, "one in 5 seconds").toEqual(["importing: 30%, 1,200 rows, 200 rows/s, 14 s left\n"]);
});

test("short work prints nothing", () => {
  const lines: string[] = [];
  const progress = startProgress({ label: "importing", total: 10, items: "rows" }, streamTo(lines));
  for (let done = 1; done <= 10; done += 1) progress.update(done, done);
  progress.stop();
  expect(lines).toEqual([]);
});

test("on a terminal, progress is one line that is written anew and never wider than it", () => {
  const clock = stopClock();
  const written: string[] = [];
  const progress = startProgress({ label: "importing", total: 4_000, items: "rows" }, streamTo(written, 41));
  progress.update(100, 100);
  clock.pass(2_000);
  progress.update(2_000, 2_000);
  clock.pass(100);
  progress.update(4_000, 4_000);
  progress.stop();
  const [shown, last] = ["importing: 50%, 2,000 rows, 1,000 rows/s", "importing: 100%, 4,000 rows, 1,905 rows/"];
  expect(written).toEqual([`\r\u001B[K${shown}`, `\r\u001B[K${last}`, "\n"]);
});
