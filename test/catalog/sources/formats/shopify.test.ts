import { describe, expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const header =
  "Handle,Title,Body (HTML),Vendor,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU," +
  "Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Image Src,Image Position,Variant Image,Status";
const image = (name: string) => `https://cdn.example/${name}.jpg`;
const urlTemplate = "https://shop.example/products/{handle}";

const scarf = {
  Handle: "wool-scarf",
  Title: "Wool scarf",
  "Body (HTML)": "<p>Soft &amp; warm.</p><ul><li>Wool</li><li>180 cm</li></ul>",
  Vendor: "Northern",
  Published: "true",
  "Option1 Name": "Colour",
  "Option1 Value": "Red",
  "Option2 Name": "Length",
  "Option2 Value": "Long",
  "Variant SKU": "WS-R",
  "Variant Price": "39.90",
  "Image Src": image("back"),
  "Image Position": "2",
  Status: "active",
};
const scarfBlue = {
  Handle: "wool-scarf",
  "Option1 Value": "Light blue",
  "Option2 Value": "Long",
  "Variant Price": "42.00",
  "Image Src": image("front"),
  "Image Position": "1",
  "Variant Image": image("blue"),
};
const mug = {
  Handle: "mug",
  Title: "Mug",
  Published: "TRUE",
  "Option1 Name": "Title",
  "Option1 Value": "Default Title",
  "Variant Price": "12",
  "Image Src": image("mug"),
};

const read = (rows: readonly Record<string, string>[], options = {}) =>
  readFile(csvOf(header, rows), { urlTemplate, ...options });

test("each variant is a product, with title, text, images and URL of its product", async () => {
  const { products, problems, notes, format } = await read([
    scarf,
    scarfBlue,
    { Handle: "wool-scarf", "Image Src": image("side") },
    mug,
  ]);
  const shared = {
    description: "Soft & warm.\n- Wool\n- 180 cm",
    available: "true",
    images: `{${image("front")},${image("back")},${image("side")}}`,
    url: "https://shop.example/products/wool-scarf",
  };
  expect(problems).toEqual([]);
  expect(format).toBe("shopify");
  expect(notes).toEqual([
    "Column 'Vendor' is not used.",
    "1 row, on line 4: no product of its own, but a further image of one.",
  ]);
  expect(products).toEqual([
    {
      ...shared,
      line: "2",
      id: "WS-R",
      sku: "WS-R",
      title: "Wool scarf - Red / Long",
      price: "39.9",
      featured_image: image("front"),
    },
    {
      ...shared,
      line: "3",
      id: "wool-scarf-Light-blue-Long",
      sku: "wool-scarf-Light-blue-Long",
      title: "Wool scarf - Light blue / Long",
      price: "42",
      featured_image: image("blue"),
    },
    {
      line: "5",
      id: "mug",
      sku: "mug",
      title: "Mug",
      price: "12",
      available: "true",
      images: `{${image("mug")}}`,
      featured_image: image("mug"),
      url: "https://shop.example/products/mug",
    },
  ]);
});

test("pieces of any size, a byte order mark and other delimiters give the same", async () => {
  const rows = [scarf, scarfBlue, mug];
  const { products } = await read(rows);
  for (const delimiter of [",", ";", "\t"]) {
    const text = `\uFEFF${csvOf(header, rows, delimiter)}`;
    expect((await readFile(text, { urlTemplate, pieceBytes: 7 })).products).toEqual(products);
  }
});

test("columns as exports have named them since 2024 are read", async () => {
  const rows = [
    {
      Title: "Wool scarf",
      "URL handle": "wool-scarf",
      Description: "Soft",
      "Published on online store": "TRUE",
      Status: "Active",
      SKU: "WS-R",
      "Option1 value": "Red",
      Price: "39.90",
      "Inventory tracker": "shopify",
      "Inventory quantity": "0",
      "Continue selling when out of stock": "DENY",
      "Product image URL": image("front"),
    },
    { "URL handle": "wool-scarf", SKU: "WS-B", "Option1 value": "Blue", Price: "39.90" },
  ];
  const { products, problems } = await readFile(csvOf(Object.keys(rows[0] ?? {}).join(","), rows), { urlTemplate });
  expect(problems).toEqual([]);
  expect(products).toMatchObject([
    { id: "WS-R", available: "false", description: "Soft", url: "https://shop.example/products/wool-scarf" },
    { id: "WS-B", available: "true", title: "Wool scarf - Blue", featured_image: image("front") },
  ]);
});

describe("available", () => {
  const tracked = { "Variant Inventory Tracker": "shopify", "Variant Inventory Policy": "deny" };
  test.each([
    ["stock that nobody counts", { "Variant Inventory Qty": "0" }, "true"],
    ["no stock", { ...tracked, "Variant Inventory Qty": "0" }, "false"],
    ["stock", { ...tracked, "Variant Inventory Qty": "3" }, "true"],
    [
      "no stock, sold on",
      { ...tracked, "Variant Inventory Qty": "-2", "Variant Inventory Policy": "continue" },
      "true",
    ],
    ["a draft", { Status: "draft" }, "false"],
    ["archived", { Status: "archived" }, "false"],
    ["not published", { Published: "FALSE" }, "false"],
  ])("%s", async (_, cells, available) => {
    expect((await read([{ ...mug, ...cells }])).products).toMatchObject([{ available }]);
  });
});

test("--one-per product: one product with its range of prices", async () => {
  const soldOut = { ...scarfBlue, "Variant Inventory Tracker": "shopify", "Variant Inventory Qty": "0" };
  const { products } = await read([scarf, soldOut, mug], { onePer: "product" });
  expect(products).toMatchObject([
    {
      line: "2",
      id: "wool-scarf",
      sku: "wool-scarf",
      title: "Wool scarf",
      price: "39.9",
      price_min: "39.9",
      price_max: "42",
      available: "true",
    },
    { line: "4", id: "mug", price: "12", price_min: "12", price_max: "12" },
  ]);
});

describe("rows of one product that are apart", () => {
  test("a later variant takes title, text and images of its product; an image that comes later is noted", async () => {
    const { products, problems, notes } = await read([scarf, mug, scarfBlue]);
    expect(problems).toEqual([]);
    expect(products.map(({ id, title, featured_image }) => [id, title, featured_image])).toEqual([
      ["WS-R", "Wool scarf - Red / Long", image("back")],
      ["mug", "Mug", image("mug")],
      ["wool-scarf-Light-blue-Long", "Wool scarf - Light blue / Long", image("blue")],
    ]);
    expect(notes).toContain(
      "1 row, on line 4: its image is not used, since the other rows of its product are not beside it.",
    );
  });

  test("with --one-per product, variants that come later are noted, not stored", async () => {
    const { products, notes } = await read([scarf, mug, scarfBlue], { onePer: "product" });
    expect(products.map(({ id }) => id)).toEqual(["wool-scarf", "mug"]);
    expect(notes?.at(-1)).toContain("1 row, on line 4: not stored");
  });

  test("memory for them is bounded: a variant of a product 10,000 rows before is read, one 8 MiB of text before is named", async () => {
    const others = (count: number, text = "") =>
      Array.from({ length: count }, (_, n) => ({ ...mug, Handle: `mug-${n}`, "Body (HTML)": text }));
    expect((await read([scarf, ...others(10_000), scarfBlue])).problems).toEqual([]);
    const { problems, products } = await read([scarf, ...others(9, "x".repeat(500_000)), scarfBlue]);
    expect(products).toHaveLength(11);
    expect(problems.filter((problem) => problem.includes("title"))).toEqual(["12 title: title is required."]);
  });
});

test("a product without a handle gets that of its title, and a row without either belongs to the one above", async () => {
  const { products } = await read([
    { ...mug, Handle: "", Title: "Café Mug 2" },
    { "Option1 Value": "Big", "Variant Price": "14", "Image Src": image("big") },
  ]);
  expect(products).toMatchObject([
    { id: "café-mug-2", url: "https://shop.example/products/caf%C3%A9-mug-2" },
    { id: "café-mug-2-Big", title: "Café Mug 2 - Big" },
  ]);
});

test("prices as shops write them, and what a row lacks with its line", async () => {
  const rows = [
    { ...mug, "Variant Price": "1.234,50" },
    { ...mug, Handle: "a", "Variant Price": "twelve" },
    { ...mug, Handle: "b", "Image Src": "" },
    {},
    { ...mug, Handle: "c", Title: "" },
  ];
  const { products, problems } = await read(rows, { errorPolicy: "REJECT_FAILED" });
  expect(products[0]).toMatchObject({ price: "1234.5" });
  expect(problems).toEqual([
    '3 price: price must be a number, not "twelve".',
    "4 featured_image: featured_image is required.",
    "6 title: title is required.",
  ]);
});

test("a value that no row can have is reported once", async () => {
  const rows = [mug, { ...mug, Handle: "b" }];
  expect((await readFile(csvOf(header, rows))).problems).toEqual([
    "1 url: There is no column for url in this file of Shopify. Tell how URLs are made: urlTemplate=https://shop.example/{sku}.",
  ]);
  const without = csvOf(header.replace("Image Src", "X").replace("Variant Image", "Y"), rows);
  expect((await readFile(without, { urlTemplate })).problems).toEqual([
    "1 featured_image: There is no column for featured_image in this file of Shopify, such as 'image src'. Use map=featured_image:COLUMN, or default=featured_image:URL.",
  ]);
  const { problems, products } = await readFile(without, { urlTemplate, defaults: { featured_image: image("none") } });
  expect({ problems, products }).toMatchObject({ problems: [], products: [{ featured_image: image("none") }, {}] });
});

test("the first three products are shown, and relative images are at the shop's host", async () => {
  const rows = ["a", "b", "c", "d"].map((Handle) => ({ ...mug, Handle, "Image Src": "media/my mug.jpg" }));
  const { preview } = await read(rows, { preview: true });
  expect(preview?.map(({ id, featured_image }) => [id, featured_image])).toEqual(
    ["a", "b", "c"].map((id) => [id, "https://shop.example/media/my%20mug.jpg"]),
  );
});
