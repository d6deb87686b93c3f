import { expect, test } from "vitest";
import { startLines } from "../../../src/cli/terminal/progress.js";
import { table } from "../../../src/cli/terminal/table.js";
import { stopClock } from "../../support/clock.js";

test("without a terminal, progress is printed in lines with rate and time left", () => {
  const clock = stopClock();
  const lines: string[] = [];
  const progress = startLines({ label: "importing", total: 4_000, items: "rows" }, (line) => lines.push(line));
  for (let done = 400; done <= 2_000; done += 400) {
    clock.pass(2_000);
    progress.update(done, done);
  }
  expect(lines, "one in 5 seconds").toEqual(["importing: 30%, 1,200 rows, 200 rows/s, 14 s left\n"]);
});

test("short work prints nothing", () => {
  const lines: string[] = [];
  const progress = startLines({ label: "importing", total: 10, items: "rows" }, (line) => lines.push(line));
  for (let done = 1; done <= 10; done += 1) progress.update(done, done);
  progress.stop();
  expect(lines).toEqual([]);
});

test("the columns of a table are as wide as their widest cells", () => {
  expect(
    table(
      ["line", "column", "reason"],
      [
        ["2", "featured_image", "It is required."],
        ["10001", "id", "x"],
      ],
    ),
  ).toEqual(["line   column          reason", "2      featured_image  It is required.", "10001  id              x"]);
});
