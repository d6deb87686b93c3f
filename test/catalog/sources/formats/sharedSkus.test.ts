import { expect, test } from "vitest";
import { csvOf, imageUrl as image, readFile, readRows as read } from "../../../support/catalog/formats.js";

test("variants that share a SKU are named by their handle and options, each the same whatever else is in the file", async () => {
  const header = "Handle,Title,Published,Option1 Value,Variant SKU,Variant Price,Image Src";
  const ring = {
    Handle: "ring",
    Title: "Ring",
    Published: "TRUE",
    "Option1 Value": "S",
    "Variant SKU": "R-1",
    "Variant Price": "20",
    "Image Src": "https://cdn.example/ring.jpg",
  };
  const large = { Handle: "ring", "Option1 Value": "L", "Variant SKU": "R-1", "Variant Price": "22" };
  const cap = { ...ring, Handle: "cap", Title: "Cap", "Option1 Value": "Default Title", "Variant SKU": "C" };
  const copy = { ...cap, Handle: "copy-of-cap", Title: "Cap, again", "Variant Price": "cheap" };
  const options = { urlTemplate: "https://shop.example/{handle}", errorPolicy: "REJECT_FAILED" } as const;
  const { products, problems, notes } = await readFile(csvOf(header, [ring, large, cap, copy]), options);
  expect(products.map(({ id, sku, title }) => [id, sku, title])).toEqual([
    ["ring-S", "ring-S", "Ring - S"],
    ["ring-L", "ring-L", "Ring - L"],
    ["cap", "cap", "Cap"],
    ["copy-of-cap", "copy-of-cap", undefined],
  ]);
  expect(problems).toEqual([expect.stringMatching(/^5 price: /u)]);
  expect(notes).toContain(
    "4 rows, the first on line 2: other variants have its SKU too, so that its id and sku are made of its product's handle and its options.",
  );
  // One product for each handle has its handle as SKU anyway.
  const whole = await readFile(csvOf(header, [ring, large, cap]), { ...options, onePer: "product" });
  expect(whole.products.map(({ sku }) => sku)).toEqual(["ring", "cap"]);
  expect(whole.notes?.join()).not.toContain("SKU");
});

test("Etsy: listings that share a SKU are named by their titles", async () => {
  const header = "TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS,MATERIALS,IMAGE1,SKU";
  const ring = { TITLE: "Silver ring", PRICE: "5", CURRENCY_CODE: "EUR", QUANTITY: "1", IMAGE1: image("r"), SKU: "R" };
  const { products, problems } = await read(header, [ring, { ...ring, TITLE: "Gold ring" }, { ...ring, SKU: "S" }]);
  expect(problems).toEqual([]);
  expect(products.map(({ id, sku }) => [id, sku])).toEqual([
    ["silver-ring", "silver-ring"],
    ["gold-ring", "gold-ring"],
    ["S", "S"],
  ]);
});

test("Wix: variants that share a SKU are named by their handle and options; that of their product does not count", async () => {
  const header = "handleId,fieldType,name,productImageUrl,sku,price,visible,inventory,productOptionDescription1";
  const tee = {
    handleId: "tee",
    fieldType: "Product",
    name: "Tee",
    productImageUrl: image("t"),
    sku: "T",
    price: "20",
    visible: "true",
    inventory: "InStock",
  };
  const part = (sku: string, value: string) => ({
    handleId: "tee",
    fieldType: "Variant",
    sku,
    productOptionDescription1: value,
  });
  const cap = { ...tee, handleId: "cap", name: "Cap", sku: "C" };
  const { products, problems } = await read(header, [
    tee,
    part("T", "S"),
    part("U", "M"),
    part("U", "L"),
    cap,
    { ...cap, handleId: "hat" },
  ]);
  expect(problems).toEqual([]);
  expect(products.map(({ id }) => id)).toEqual(["T", "tee-M", "tee-L", "cap", "hat"]);
});

test("BigCommerce: each row of a product begins one, whatever its SKU, so that none is lost", async () => {
  const header = "Item,ID,Name,SKU,Options,Price,Is Visible,Internal Image URL (Export)";
  const cup = { Item: "Product", ID: "1", Name: "Cup", SKU: "C", Price: "5", "Is Visible": "TRUE" };
  const picture = { Item: "Image", "Internal Image URL (Export)": image("1") };
  const rows = [
    cup,
    picture,
    { ...cup, ID: "2", Name: "Mug", SKU: "M" },
    picture,
    { ...cup, ID: "3", Name: "Copy" },
    picture,
  ];
  const { products } = await read(header, rows, { urlTemplate: "https://shop.example/{handle}" });
  expect(products.map(({ sku, title, url }) => [sku, title, url])).toEqual([
    ["C", "Cup", "https://shop.example/C"],
    ["M", "Mug", "https://shop.example/M"],
    ["C", "Copy", "https://shop.example/C"], // named as a repeated SKU where it is stored
  ]);
});
