import { expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const header =
  "id,title,description,link,image_link,additional_image_link,availability,price,sale_price,sale_price_effective_date,mpn,brand";
const jacket = {
  id: "jacket-m",
  title: "Jacket — Size M",
  description: 'Warm; 5" zip & hood',
  link: "https://shop.example/jacket?size=m",
  image_link: "https://cdn.example/jacket.jpg",
  additional_image_link: "https://cdn.example/back.jpg,https://cdn.example/side.jpg",
  availability: "in stock",
  price: "349.00 EUR",
  mpn: "J-1",
  brand: "Northern",
};
const read = (rows: readonly Record<string, string>[], options = {}) => readFile(csvOf(header, rows, "\t"), options);

test("a feed of tabs is recognized, and needs no option", async () => {
  const { products, problems, notes, format } = await read([
    jacket,
    { ...jacket, id: "jacket-l", mpn: "", additional_image_link: "" },
  ]);
  expect({ problems, notes, format }).toEqual({
    problems: [],
    notes: ["Column 'brand' is not used."],
    format: "google",
  });
  const shared = {
    title: "Jacket — Size M",
    description: 'Warm; 5" zip & hood',
    price: "349",
    available: "true",
    featured_image: "https://cdn.example/jacket.jpg",
    url: "https://shop.example/jacket?size=m",
  };
  expect(products).toEqual([
    {
      ...shared,
      line: "2",
      id: "jacket-m",
      sku: "jacket-m",
      images: "{https://cdn.example/jacket.jpg,https://cdn.example/back.jpg,https://cdn.example/side.jpg}",
    },
    { ...shared, line: "3", id: "jacket-l", sku: "jacket-l", images: "{https://cdn.example/jacket.jpg}" },
  ]);
});

test.each([
  ["a sale", { sale_price: "299,00 EUR" }, { price: "299" }],
  [
    "a sale within its dates",
    { sale_price: "299 EUR", sale_price_effective_date: "2020-01-01T00:00+0100/2999-01-01T00:00+0100" },
    { price: "299" },
  ],
  [
    "a sale that has ended",
    { sale_price: "299 EUR", sale_price_effective_date: "2020-01-01/2020-02-01" },
    { price: "349" },
  ],
  ["out of stock", { availability: "out_of_stock" }, { available: "false" }],
  ["on preorder", { availability: "preorder" }, { available: "true" }],
])("%s", async (_, cells, expected) => {
  expect((await read([{ ...jacket, ...cells }])).products).toMatchObject([expected]);
});

test("names may be written with spaces, capitals and the prefix of the XML form; a column may stand twice", async () => {
  const rows = [jacket];
  const named = csvOf(header, rows, "\t").replace(
    "image_link\tadditional_image_link\t",
    "Image Link\tg:additional image link\t",
  );
  expect((await readFile(named)).products).toEqual((await read(rows)).products);
  const twice = csvOf(header, [{ ...jacket, mpn: "https://cdn.example/4.jpg" }], "\t").replace(
    "\tmpn\t",
    "\tadditional_image_link\t",
  );
  expect((await readFile(twice)).products[0]?.["images"]).toMatch(/side\.jpg,https:\/\/cdn\.example\/4\.jpg\}$/u);
});

test("missing and unknown values are reported with their line", async () => {
  const { problems } = await read(
    [
      { ...jacket, link: "", availability: "perhaps" },
      { ...jacket, id: "" },
    ],
    { errorPolicy: "REJECT_FAILED" },
  );
  expect(problems).toEqual([
    '2 available: available must be true or false, not "perhaps".',
    "2 url: url is required.",
    "3 id: id is required.",
    "3 sku: sku is required.",
  ]);
});
