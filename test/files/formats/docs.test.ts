import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("a layout is a table in one file of at most 80 lines", async () => {
  const { readdir } = await import("node:fs/promises");
  const folder = new URL("../../../src/files/formats/layouts/", import.meta.url);
  for (const name of await readdir(folder)) {
    const text = await readFile(new URL(name, folder), "utf8");
    expect(text.split("\n").length, name).toBeLessThanOrEqual(80);
    expect(text, name).not.toMatch(/function|=>.*\{/u);
  }
});
