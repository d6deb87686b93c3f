import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { productFieldNames } from "../../src/catalog/product.input.js";

test("docs/catalog.md lists every field of a product", async () => {
  const [, section = ""] = (await readFile("docs/catalog.md", "utf8")).split("## Product fields");
  const rows = [...(section.split("\n## ")[0] ?? "").matchAll(/^\| (`[^|]+) \|/gmu)];
  const names = rows.flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/gu)].map(([, name = ""]) => name));
  expect(new Set(names)).toEqual(new Set(productFieldNames));
});
