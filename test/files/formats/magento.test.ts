import { expect, test } from "vitest";
import { csvRow, expectRead, type FileCase, readFile } from "../../support/catalog/formats.js";

const urlTemplate = "https://shop.example/{url_key|sku}.html";
const header =
  "sku,store_view_code,product_type,name,description,visibility,price,url_key,base_image,additional_images,qty,is_in_stock,configurable_variations,associated_skus";
const images = "/h/a/hat red.jpg,/h/a/back.jpg,/h/a/side.jpg";
const shown =
  "{https://shop.example/h/a/hat%20red.jpg,https://shop.example/h/a/back.jpg,https://shop.example/h/a/side.jpg}";
const look = `${images.split(",")[0]},"${images.split(",").slice(1).join()}"`;
const red = `HAT-RED,,simple,Hat-Red,<p>Felt &bull; warm</p>,Not Visible Individually,52.000000,hat-red,${look},100.0000,1,,`;
const bare = 'HAT-BLUE,,simple,Hat-Blue,,Not Visible Individually,"1.049,50",,,,0,,,';
const variations = '"sku=HAT-RED,color=Red|sku=HAT-BLUE,color=Blue"';
const hat = `HAT,,configurable,Hat,<p>Felt &bull; warm</p>,"Catalog, Search",,hat,${look},,1,${variations},`;
const isParent = (line: number) =>
  `1 row, on line ${line}: configurable and grouped products are not stored: the simple products in them are.`;

const files: readonly Omit<FileCase, "format">[] = [
  {
    name: "simple products are stored, and take from the configurable one what they lack, before it",
    file: [`${header},attribute_set_code`, `${red},Default`, `${bare},`, `${hat},`],
    products: ["2: HAT-RED | Hat-Red | 52 | true", "3: HAT-BLUE | Hat-Blue | 1049.5 | false"],
    details: [
      { description: "Felt • warm", images: shown, url: "https://shop.example/hat-red.html" },
      { description: "Felt • warm", images: shown, url: "https://shop.example/hat.html" },
    ],
    notes: ["Column 'attribute_set_code' is not used.", isParent(4)],
  },
  {
    name: "and after it",
    file: [header, hat, red, bare],
    products: ["3: HAT-RED | Hat-Red | 52 | true", "4: HAT-BLUE | Hat-Blue | 1049.5 | false"],
    details: [{ images: shown }, { images: shown, url: "https://shop.example/hat.html" }],
    notes: [isParent(2)],
  },
  {
    name: "a product that shops list does not wait for a parent; one whose parent is missing is reported with its line",
    file: [header, bare, 'CAP,,simple,Cap,,"Catalog, Search",9,,/c/cap.jpg,,1,,,'],
    products: ["3: CAP | Cap | 9 | true"],
    problems: ["2 featured_image: featured_image is required."],
    notes: ["1 row, on line 2: the product that it belongs to is not in the file, or too far away from it."],
  },
  {
    name: "grouped products give what is in them, and are not stored; bundles are",
    file: [
      header,
      bare,
      `SET,,grouped,Set,Nice,"Catalog, Search",,set,${look},,1,,"HAT-BLUE=1.0000,HAT-RED=2.0000"`,
      `KIT,,bundle,Kit,,"Catalog, Search",,kit,${look},,1,,`,
    ],
    products: ["2: HAT-BLUE | Hat-Blue | 1049.5 | false", "4: KIT | Kit |  | true"],
    details: [{ description: "Nice" }, {}],
    notes: [isParent(3)],
  },
  {
    name: "rows of store views are counted, and a row without a SKU is reported",
    file: [header, red, "HAT-RED,de,,Hut,,,,,,,,,,", red.replace("HAT-RED", "")],
    products: ["2: HAT-RED | Hat-Red | 52 | true"],
    problems: ["4 id: id is required.", "4 sku: sku is required."],
    notes: ["1 row, on line 3: values of a store view are not used: those of all views are."],
  },
  {
    name: "a file without URL keys and images needs a template and a default",
    file: ["category,name,sku,price,qty,attribute_set", '"Gear\nBags",Bag ,24-B1,34,100,Bag'],
    options: { defaults: { featured_image: "//a.b/none" } },
    products: ["2: 24-B1 | Bag | 34 | true"],
    details: [{ url: "https://shop.example/24-B1.html", featured_image: "//a.b/none" }],
    notes: ["Column 'category' is not used.", "Column 'attribute_set' is not used."],
  },
];

test.each(files)("$name", (file) =>
  expectRead({ format: "magento", ...file, options: { urlTemplate, ...file.options } }),
);

const row = {
  sku: "A",
  product_type: "simple",
  name: "Hat",
  price: "52",
  url_key: "hat",
  base_image: "/a.jpg",
  additional_images: "/b.jpg",
};

test.each([
  ["disabled", { product_online: "2" }, { available: "false" }],
  ["out of stock", { is_in_stock: "0", qty: "3" }, { available: "false" }],
  ["no word on stock, and none", { is_in_stock: "", qty: "0.0000" }, { available: "false" }],
  ["no stock, and backorders", { is_in_stock: "", qty: "0", allow_backorders: "1" }, { available: "true" }],
  ["stock that nobody counts", { is_in_stock: "", qty: "0", manage_stock: "0" }, { available: "true" }],
  ["no type", { product_type: "" }, { id: "A" }],
  ["no URL key", { url_key: "" }, { url: "https://shop.example/A.html" }],
  ["no image but more", { base_image: "no_selection" }, { featured_image: "https://shop.example/b.jpg" }],
  [
    "what __EMPTY__VALUE__ stands for",
    { url_key: "__EMPTY__VALUE__", special_price: "__EMPTY__VALUE__" },
    { url: "https://shop.example/A.html", price: "52" },
  ],
])("%s", async (_, cells, expected) => {
  const { products, problems, notes } = await readFile(csvRow({ ...row, ...cells }), { urlTemplate });
  expect({ products, problems, notes }).toMatchObject({ products: [expected], problems: [], notes: [] });
});
