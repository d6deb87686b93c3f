import { describe, expect, test } from "vitest";
import { csvOf, csvRow, expectRead, type FileCase, imageUrl, readFile } from "../../support/catalog/formats.js";

const urlTemplate = "https://shop.example/products/{handle}";
const header = "Handle,Title,Body (HTML),Published,Option1 Value,Option2 Value,Variant SKU,Variant Price,Image Src";
const scarf = "scarf,Scarf,<p>Soft &amp; warm.</p><ul><li>Wool</ul>,true,Red,Long,WS-R,39.90,//a.b/back";
const scarfBlue = "scarf,,,,Light blue,Long,,42.00,//a.b/blue";
const mug = "mug,Mug,,TRUE,Default Title,,,12,//a.b/mug";
const matrixify = "Handle,Command,Title,Status,URL,Image Src,Variant Command,Option1 Value,Variant SKU,Variant Price";

const files: readonly Omit<FileCase, "format">[] = [
  {
    name: "each variant is a product, with title, text, images and URL of its product",
    file: [
      `${header},Vendor,Image Position,Variant Image`,
      `${scarf},Northern,2,`,
      "scarf,,,,Light blue,Long,,42.00,//a.b/front,,1,//a.b/blue",
      "scarf,,,,,,,,//a.b/side,,,",
      `${mug},,,`,
    ],
    products: [
      "2: WS-R | Scarf - Red / Long | 39.9 | true",
      "3: scarf-Light-blue-Long | Scarf - Light blue / Long | 42 | true",
      "5: mug | Mug | 12 | true",
    ],
    details: [
      {
        description: "Soft & warm.\n- Wool",
        images: "{//a.b/front,//a.b/back,//a.b/side}",
        featured_image: "//a.b/front",
        url: "https://shop.example/products/scarf",
      },
      { images: "{//a.b/front,//a.b/back,//a.b/side}", featured_image: "//a.b/blue" },
      { featured_image: "//a.b/mug", url: "https://shop.example/products/mug" },
    ],
    notes: ["Column 'Vendor' is not used.", "1 row, on line 4: no product of its own, but a further image of one."],
  },
  {
    name: "columns as exports have named them since 2024",
    file: [
      "Title,URL handle,Description,Published on online store,Status,SKU,Option1 value,Price,Inventory tracker,Inventory quantity,Continue selling when out of stock,Product image URL",
      "Scarf,scarf,Soft,TRUE,Active,WS-R,Red,39.90,shopify,0,DENY,//a.b/1",
      ",scarf,,,,WS-B,Blue,39.90,,,,",
    ],
    products: ["2: WS-R | Scarf - Red | 39.9 | false", "3: WS-B | Scarf - Blue | 39.9 | true"],
    details: [{ description: "Soft" }, { description: "Soft", featured_image: "//a.b/1" }],
  },
  {
    name: "one product for each handle, with its range of prices",
    file: [`${header},Variant Inventory Tracker,Variant Inventory Qty`, scarf, `${scarfBlue},shopify,0`, mug],
    options: { onePer: "product" },
    products: ["2: scarf | Scarf | 39.9 | true", "4: mug | Mug | 12 | true"],
    details: [
      { price_min: "39.9", price_max: "42" },
      { price_min: "12", price_max: "12" },
    ],
    notes: ["1 row, on line 3: not stored by itself: its product is (--one-per product)."],
  },
  {
    name: "a later variant takes what it lacks from its product; an image that comes later is noted",
    file: [header, scarf, mug, scarfBlue],
    products: [
      "2: WS-R | Scarf - Red / Long | 39.9 | true",
      "3: mug | Mug | 12 | true",
      "4: scarf-Light-blue-Long | Scarf - Light blue / Long | 42 | true",
    ],
    details: [{ featured_image: "//a.b/back" }, {}, { featured_image: "//a.b/back" }],
    notes: ["1 row, on line 4: its image is not used, because the other rows of its product are not adjacent."],
  },
  {
    name: "a row without a title comes before the others of its product",
    file: [header, "scarf,,,,Blue,,WS-B,42,", scarf, mug],
    products: [
      "2: WS-B | Scarf - Blue | 42 | true",
      "3: WS-R | Scarf - Red / Long | 39.9 | true",
      "4: mug | Mug | 12 | true",
    ],
    details: [{ featured_image: "//a.b/back" }, {}, {}],
  },
  {
    name: "a row without a title comes before the others of its product, and apart from them",
    file: [header, "scarf,,,,Blue,,WS-B,42,", mug, scarf],
    products: [
      "3: mug | Mug | 12 | true",
      "4: WS-R | Scarf - Red / Long | 39.9 | true",
      "2: WS-B | Scarf - Blue | 42 | true",
    ],
    details: [{}, {}, { featured_image: "//a.b/back" }],
  },
  {
    name: "with one product for each handle, variants that come later are not stored",
    file: [header, scarf, mug, scarfBlue],
    options: { onePer: "product" },
    products: ["2: scarf | Scarf | 39.9 | true", "3: mug | Mug | 12 | true"],
    notes: [
      "1 row, on line 4: its image is not used, because the other rows of its product are not adjacent.",
      "1 row, on line 4: not stored, because the other rows of its product are not adjacent (--one-per product).",
    ],
  },
  {
    name: "a product without a handle gets that of its title, and a row without either belongs to the one above",
    file: [header, ",Café Mug 2,,TRUE,,,,12,//a.b/mug", ",,,,Big,,,14,//a.b/big"],
    products: ["2: café-mug-2 | Café Mug 2 | 12 | true", "3: café-mug-2-Big | Café Mug 2 - Big | 14 | true"],
    details: [{ url: "https://shop.example/products/caf%C3%A9-mug-2" }, {}],
  },
  {
    name: "prices as shops write them, and what a row lacks with its line",
    file: [
      header,
      'mug,Mug,,,,,,"1.234,50",media/my mug.jpg',
      "a,A,,,,,,twelve,//a.b/1",
      "b,B,,,,,,12,",
      ",,,,,,,,",
      "c,,,,,,,12,//a.b/1",
    ],
    products: ["2: mug | Mug | 1234.5 | true"],
    details: [{ featured_image: "https://shop.example/media/my%20mug.jpg" }],
    problems: [
      '3 price: price must be a number, not "twelve".',
      "4 featured_image: featured_image is required.",
      "6 title: title is required.",
    ],
    notes: ["1 row, on line 6: the product that it belongs to is not in the file, or too far away from it."],
  },
  {
    name: "variants that share a SKU are named by their handle and options, each the same whatever else is in the file",
    file: [
      header,
      "ring,Ring,,,S,,R-1,20,//a.b/r",
      "ring,,,,L,,R-1,22,",
      "cap,Cap,,,,,C,20,//a.b/c",
      "copy-of-cap,Copy,,,,,C,cheap,//a.b/c",
    ],
    products: ["2: ring-S | Ring - S | 20 | true", "3: ring-L | Ring - L | 22 | true", "4: cap | Cap | 20 | true"],
    problems: ['5 price: price must be a number, not "cheap".'],
    notes: [
      "4 rows, the first on line 2: other variants have its SKU too, so that its id and sku are made of its product's handle and its options.",
    ],
  },
  {
    name: "one product for each handle has its handle as SKU, whatever its variants share",
    file: [header, "ring,Ring,,,S,,R-1,20,//a.b/r", "ring,,,,L,,R-1,22,"],
    options: { onePer: "product" },
    products: ["2: ring | Ring | 20 | true"],
    notes: ["1 row, on line 3: not stored by itself: its product is (--one-per product)."],
  },
];

const filesOfMatrixify: readonly FileCase[] = [
  {
    name: "Matrixify is read as Shopify's, with URLs and several images in a cell",
    file: [
      matrixify,
      "bowl,MERGE,Bowl,Active,https://shop.example/bowl,//a.b/1;//a.b/2,,S,B-S,12",
      "bowl,MERGE,,,,,,L,B-L,14",
    ],
    format: "matrixify",
    options: { urlTemplate: undefined },
    products: ["2: B-S | Bowl - S | 12 | true", "3: B-L | Bowl - L | 14 | true"],
    details: [{}, { url: "https://shop.example/bowl", images: "{//a.b/1,//a.b/2}" }],
  },
  {
    name: "its commands count: what is to be deleted or ignored is not stored, and named; others are problems",
    file: [
      matrixify,
      "bowl,MERGE,Bowl,Active,,//a.b/1,,S,B-S,12",
      "bowl,MERGE,,,,,DELETE,L,B-L,14",
      "cup,DELETE,Cup,Active,,//a.b/1,,S,C,12",
      "cup,,,,,,,,C2,3",
      "jar,IGNORE,Jar,Active,,//a.b/1,,S,J,12",
      "lid,SELL,Lid,Active,,//a.b/1,,S,L,12",
    ],
    format: "matrixify",
    products: ["2: B-S | Bowl - S | 12 | true"],
    problems: ['7 : The command "SELL" is not known.'],
    notes: [
      "3 rows, the first on line 3: not stored: its command is DELETE. The mode REPLACE deletes what a file does not store; no other mode does.",
      "1 row, on line 6: not stored: its command is IGNORE.",
    ],
  },
];

test.each([
  ...files.map((file): FileCase => ({ format: "shopify", ...file, options: { urlTemplate, ...file.options } })),
  ...filesOfMatrixify,
])("$name", (file) => expectRead(file));

const bought = { Handle: "mug", Title: "Mug", "Variant Price": "12", "Image Src": imageUrl("mug") };
const counted = { "Variant Inventory Tracker": "shopify", "Variant Inventory Policy": "deny" };

test.each([
  ["stock that nobody counts", { "Variant Inventory Qty": "0", "Variant Inventory Tracker": "" }, "true"],
  ["no stock", { ...counted, "Variant Inventory Qty": "0" }, "false"],
  ["stock", { ...counted, "Variant Inventory Qty": "3" }, "true"],
  ["sold on", { ...counted, "Variant Inventory Qty": "-2", "Variant Inventory Policy": "continue" }, "true"],
  ["a draft", { Status: "draft" }, "false"],
  ["archived", { Status: "archived" }, "false"],
  ["unknown stock", { ...counted, "Variant Inventory Qty": "a few" }, undefined],
  [
    "an unknown policy",
    { ...counted, "Variant Inventory Qty": "0", "Variant Inventory Policy": "oversell" },
    undefined,
  ],
  ["an unknown status", { Status: "unknown" }, undefined],
])("availability: %s", async (_, cells, available) => {
  const { products, problems } = await readFile(csvRow({ ...bought, ...cells }), { urlTemplate });
  expect(available === undefined ? problems : products).toMatchObject(
    available === undefined ? [expect.stringContaining("available must be true or false")] : [{ available }],
  );
});

describe("a value that no row can have is reported once", () => {
  const two = (cells: Readonly<Record<string, string>>) => csvOf(Object.keys(cells).join(","), [cells, cells]);
  const { "Image Src": _, ...without } = bought;

  test.each([
    [
      "url",
      two(bought),
      {},
      "There is no column for url in this file of Shopify. Give a template for URLs: urlTemplate=https://shop.example/{sku}.",
    ],
    [
      "featured_image",
      two(without),
      { urlTemplate },
      "There is no column for featured_image in this file of Shopify, such as 'image src'. Use map=featured_image:COLUMN, or default=featured_image:URL.",
    ],
  ])("%s", async (field, file, options, message) => {
    expect((await readFile(file, options)).problems).toEqual([`1 ${field}: ${message}`]);
  });

  test("but not where a default gives it", async () => {
    const options = { urlTemplate, defaults: { featured_image: imageUrl("none") } };
    const { problems, products } = await readFile(csvRow(without), options);
    expect({ problems, products }).toMatchObject({ problems: [], products: [{ featured_image: imageUrl("none") }] });
  });
});

test("a variant of a product 8 MiB of text before is read without it, and named: memory for products is bounded", async () => {
  const long = "x".repeat(3_000_000);
  const others = ["a", "b", "c"].map((handle) => `${handle},Mug,${long},,,,,12,//a.b/1`);
  const { problems, products, invalid } = await readFile([header, scarf, ...others, scarfBlue].join("\n"), {
    urlTemplate,
  });
  expect(products.length + invalid.length).toBe(5);
  expect(problems).toContain("6 title: title is required.");
});

test("the first three products are shown", async () => {
  const rows = ["a", "b", "c", "d"].map((Handle) => ({ ...bought, Handle }));
  const { preview } = await readFile(csvOf(Object.keys(bought).join(","), rows), { urlTemplate, preview: true });
  expect(preview?.map(({ id }) => id)).toEqual(["a", "b", "c"]);
});
