import { describe, expect, test } from "vitest";
import { brief, imageUrl as image, readRows as read } from "../../../support/catalog/formats.js";

describe("Matrixify", () => {
  const header =
    "ID,Handle,Command,Title,Body HTML,Status,Published,URL,Image Src,Image Position,Variant Command,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy";
  const bowl = {
    Handle: "bowl",
    Command: "MERGE",
    Title: "Bowl",
    Status: "Active",
    Published: "TRUE",
    URL: "https://shop.example/products/bowl",
    "Image Src": `${image("1")};${image("2")}`,
    "Option1 Value": "S",
    "Variant SKU": "B-S",
    "Variant Price": "12",
  };
  const next = { Handle: "bowl", Command: "MERGE", "Option1 Value": "L", "Variant SKU": "B-L", "Variant Price": "14" };

  test("is read as Shopify's, with URLs and several images in a cell", async () => {
    const { format, problems, products } = await read(header, [bowl, next], { urlTemplate: undefined });
    expect({ format, problems }).toEqual({ format: "matrixify", problems: [] });
    expect(brief(products)).toEqual(["B-S | B-S | Bowl - S | 12 | true", "B-L | B-L | Bowl - L | 14 | true"]);
    expect(products[1]).toMatchObject({ url: bowl.URL, images: `{${image("1")},${image("2")}}` });
  });

  test("commands count: what is to be deleted or ignored is not stored, and named; others are problems", async () => {
    const { products, problems, notes, skipped } = await read(header, [
      bowl,
      { ...next, "Variant Command": "DELETE" },
      { ...bowl, Handle: "cup", "Variant SKU": "C", Command: "DELETE" },
      { Handle: "cup", Command: "", "Variant SKU": "C2", "Variant Price": "3" },
      { ...bowl, Handle: "jar", "Variant SKU": "J", Command: "IGNORE" },
      { ...bowl, Handle: "lid", "Variant SKU": "L", Command: "SELL" },
    ]);
    expect(products.flatMap(({ id, title }) => (title === undefined ? [] : id))).toEqual(["B-S"]);
    expect(problems).toEqual(['7 : The command "SELL" is not known.']);
    expect(skipped).toBe(4);
    expect(notes).toContain(
      "3 rows, the first on line 3: not stored: its command is DELETE. The mode REPLACE deletes what a file does not store; no other mode does.",
    );
  });
});

test("Shopify: rows without a title come first, beside the others or apart", async () => {
  const header = "Handle,Title,Published,Option1 Value,Variant SKU,Variant Price,Image Src";
  const title = {
    Handle: "mug",
    Title: "Mug",
    Published: "true",
    "Option1 Value": "Red",
    "Variant SKU": "M-R",
    "Variant Price": "12",
    "Image Src": image("mug"),
  };
  const other = { ...title, Handle: "cup", Title: "Cup", "Variant SKU": "C" };
  const blue = { Handle: "mug", "Option1 Value": "Blue", "Variant SKU": "M-B", "Variant Price": "13" };
  for (const rows of [
    [blue, title, other],
    [blue, other, title],
    [other, blue, title],
  ]) {
    const { problems, products } = await read(header, rows);
    expect(problems).toEqual([]);
    expect(brief(products).toSorted()).toEqual([
      "C | C | Cup - Red | 12 | true",
      "M-B | M-B | Mug - Blue | 13 | true",
      "M-R | M-R | Mug - Red | 12 | true",
    ]);
    expect(products.find(({ id }) => id === "M-B")).toMatchObject({ featured_image: image("mug") });
  }
});
