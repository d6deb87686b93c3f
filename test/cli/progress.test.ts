import { expect, test } from "vitest";
import { startLines } from "../../src/cli/terminal/progress.js";
import { table } from "../../src/cli/terminal/table.js";
import { until } from "../support/until.js";

test("without a terminal, progress is printed in lines with rate and time left", async () => {
  const lines: string[] = [];
  const progress = startLines({ label: "importing", total: 4_000, items: "rows" }, (line) => lines.push(line), 30);
  let rows = 0;
  await until(() => {
    rows = Math.min(rows + 1_000, 2_000);
    progress.update(rows, rows);
    return lines.length >= 2;
  }, "two lines");
  expect(lines.at(-1)).toMatch(/^importing: 50%, 2,000 rows, [\d,]+ rows\/s, \d s left\n$/u);
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
