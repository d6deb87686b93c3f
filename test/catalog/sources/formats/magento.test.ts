import { expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const header =
  "sku,store_view_code,attribute_set_code,product_type,name,description,short_description,product_online,visibility,price," +
  "special_price,special_price_from_date,special_price_to_date,url_key,base_image,additional_images,qty,is_in_stock," +
  "manage_stock,allow_backorders,configurable_variations,associated_skus";
const options = { urlTemplate: "https://shop.example/{url_key|sku}.html" };

const red = {
  sku: "HAT-RED",
  attribute_set_code: "Default",
  product_type: "simple",
  name: "Hat-Red",
  description: "<p>Felt &bull; warm</p>",
  product_online: "1",
  visibility: "Not Visible Individually",
  price: "52.000000",
  url_key: "hat-red",
  base_image: "/h/a/hat red.jpg",
  additional_images: "/h/a/back.jpg,/h/a/side.jpg",
  qty: "100.0000",
  is_in_stock: "1",
};
const bare = {
  sku: "HAT-BLUE",
  product_type: "simple",
  name: "Hat-Blue",
  visibility: red.visibility,
  qty: "0",
  price: "1.049,50",
};
const hat = {
  ...red,
  sku: "HAT",
  product_type: "configurable",
  name: "Hat",
  visibility: "Catalog, Search",
  url_key: "hat",
  configurable_variations: "sku=HAT-RED,color=Red|sku=HAT-BLUE,color=Blue",
};

const read = (rows: readonly Record<string, string>[], more = {}) =>
  readFile(csvOf(header, rows), { ...options, ...more });
const images =
  "{https://shop.example/h/a/hat%20red.jpg,https://shop.example/h/a/back.jpg,https://shop.example/h/a/side.jpg}";

test("simple products are stored, and take from the configurable one what they lack, before or after it", async () => {
  const expected = [
    {
      line: "2",
      id: "HAT-RED",
      sku: "HAT-RED",
      title: "Hat-Red",
      description: "Felt • warm",
      price: "52",
      available: "true",
      images,
      featured_image: "https://shop.example/h/a/hat%20red.jpg",
      url: "https://shop.example/hat-red.html",
    },
    {
      line: "3",
      id: "HAT-BLUE",
      sku: "HAT-BLUE",
      title: "Hat-Blue",
      description: "Felt • warm",
      price: "1049.5",
      available: "false",
      images,
      featured_image: "https://shop.example/h/a/hat%20red.jpg",
      url: "https://shop.example/hat.html",
    },
  ];
  const { products, problems, notes, format } = await read([red, bare, hat]);
  expect({ problems, format }).toEqual({ problems: [], format: "magento" });
  expect(products).toEqual(expected);
  expect(notes).toEqual([
    "Column 'attribute_set_code' is not used.",
    "1 row, on line 4: configurable and grouped products are not stored: the simple products in them are.",
  ]);
  const after = await read([hat, red, bare]);
  expect(after.products).toEqual(expected.map((product, at) => ({ ...product, line: String(at + 3) })));
});

test("a product that shops list does not wait for a parent; one whose parent is missing is reported with its line", async () => {
  const listed = { ...bare, sku: "CAP", visibility: "Catalog, Search", base_image: "/c/cap.jpg" };
  const { products, problems, notes } = await read([bare, listed], { errorPolicy: "REJECT_FAILED" });
  expect(products.map(({ id }) => id)).toEqual(["CAP", "HAT-BLUE"]);
  expect(problems).toEqual(["2 featured_image: featured_image is required."]);
  expect(notes?.at(-1)).toContain("1 row, on line 2: the product that it belongs to is not in the file");
});

test("grouped products give what is in them, and are not stored; bundles are", async () => {
  const set = {
    ...hat,
    sku: "SET",
    product_type: "grouped",
    configurable_variations: "",
    associated_skus: "HAT-BLUE=1.0000,HAT-RED=2.0000",
  };
  const bundle = { ...red, sku: "KIT", product_type: "bundle", price: "" };
  const { products, problems } = await read([bare, set, bundle]);
  expect(problems).toEqual([]);
  expect(products).toMatchObject([{ id: "HAT-BLUE", description: "Felt • warm" }, { id: "KIT" }]);
});

test.each([
  ["a special price", { special_price: "40" }, { price: "40" }],
  [
    "a special price that has ended",
    { special_price: "40", special_price_to_date: "2020-01-31 00:00:00" },
    { price: "52" },
  ],
  ["a special price to come", { special_price: "40", special_price_from_date: "1/1/2999" }, { price: "52" }],
  ["out of stock", { is_in_stock: "0" }, { available: "false" }],
  ["disabled", { product_online: "2" }, { available: "false" }],
  ["no word on stock, and none", { is_in_stock: "", qty: "0.0000" }, { available: "false" }],
  [
    "no word on stock, none, and backorders",
    { is_in_stock: "", qty: "0", allow_backorders: "1" },
    { available: "true" },
  ],
  ["stock that nobody counts", { is_in_stock: "", qty: "0", manage_stock: "0" }, { available: "true" }],
  ["no type", { product_type: "" }, { id: "HAT-RED" }],
  ["no URL key", { url_key: "" }, { url: "https://shop.example/HAT-RED.html" }],
  ["no image but more", { base_image: "no_selection" }, { featured_image: "https://shop.example/h/a/back.jpg" }],
])("%s", async (_, cells, expected) => {
  expect((await read([{ ...red, ...cells, visibility: "Catalog, Search" }])).products).toMatchObject([expected]);
});

test("rows of store views are counted, and a row without a SKU is reported", async () => {
  const { products, problems, notes } = await read(
    [red, { sku: "HAT-RED", store_view_code: "de", name: "Hut" }, { ...red, sku: "" }],
    {
      errorPolicy: "REJECT_FAILED",
    },
  );
  expect(products.flatMap(({ title }) => title ?? [])).toEqual(["Hat-Red"]);
  expect(problems).toEqual(["4 id: id is required.", "4 sku: sku is required."]);
  expect(notes).toContain("1 row, on line 3: values of a store view are not used: those of all views are.");
});

test("a file without URL keys and images needs a template and a default", async () => {
  const text = csvOf("category,name,sku,price,qty,description,attribute_set", [
    { category: "Gear\nBags", name: "Bag ", sku: "24-B1", price: "34", qty: "100", attribute_set: "Bag" },
  ]);
  const { products, problems } = await readFile(text, {
    ...options,
    defaults: { featured_image: "//cdn.example/none.jpg" },
  });
  expect({ products, problems }).toMatchObject({
    problems: [],
    products: [
      { id: "24-B1", title: "Bag", url: "https://shop.example/24-B1.html", featured_image: "//cdn.example/none.jpg" },
    ],
  });
});
