import { expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const header =
  "ID,Type,SKU,Name,Published,Short description,Description,Date sale price starts,Date sale price ends,In stock?,Stock," +
  "Backorders allowed?,Sale price,Regular price,Categories,Images,Parent,Grouped products,Attribute 1 name,Attribute 1 value(s)," +
  "Attribute 2 name,Attribute 2 value(s)";
const urlTemplate = "https://shop.example/?p={id}";
const image = (name: string) => `https://cdn.example/${name}.jpg`;

const tea = {
  ID: "10",
  Type: "variable",
  SKU: "tea",
  Name: "Tea &amp; honey",
  Published: "1",
  Description: String.raw`<p>Loose leaves.</p>\nOrganic.`,
  "In stock?": "1",
  Images: `${image("tea")}, ${image("tin")}`,
  "Attribute 1 name": "Size",
  "Attribute 1 value(s)": "100 g, 250 g",
};
const small = {
  ID: "11",
  Type: "variation",
  SKU: "tea-s",
  Name: "Tea & honey - 100 g",
  Published: "1",
  "In stock?": "1",
  "Regular price": "12,90",
  Parent: "tea",
  "Attribute 1 value(s)": "100 g",
};
const cup = {
  ID: "20",
  Type: "simple",
  SKU: "cup",
  Name: "Cup",
  Published: "1",
  "Short description": "A cup.",
  "In stock?": "1",
  "Sale price": "18",
  "Regular price": "20",
  Images: `${image("cup 1")},${image("cup-2")}`,
};

const read = (rows: readonly Record<string, string>[], options = {}) =>
  readFile(csvOf(header, rows), { urlTemplate, ...options });

test("variations take from their parent what they lack; parents, grouped and external products are not stored", async () => {
  const large = {
    ...small,
    ID: "12",
    SKU: "",
    Name: "",
    "In stock?": "0",
    Images: image("large"),
    "Attribute 1 value(s)": "250 g",
  };
  const grouped = { ...cup, ID: "30", Type: "grouped", SKU: "set", "Grouped products": "cup, tea" };
  const external = { ...cup, ID: "31", Type: "external", SKU: "ext" };
  const { products, problems, notes, format } = await read([tea, small, large, cup, grouped, external]);
  expect({ problems, format }).toEqual({ problems: [], format: "woocommerce" });
  expect(products).toEqual([
    {
      line: "3",
      id: "11",
      sku: "tea-s",
      title: "Tea & honey - 100 g",
      description: "Loose leaves.\nOrganic.",
      price: "12.9",
      available: "true",
      images: `{${image("tea")},${image("tin")}}`,
      featured_image: image("tea"),
      url: "https://shop.example/?p=11",
    },
    {
      line: "4",
      id: "tea-250-g",
      sku: "tea-250-g",
      title: "Tea & honey - 250 g",
      description: "Loose leaves.\nOrganic.",
      price: "12.9",
      available: "false",
      images: `{${image("large")}}`,
      featured_image: image("large"),
      url: "https://shop.example/?p=12",
    },
    {
      line: "5",
      id: "20",
      sku: "cup",
      title: "Cup",
      description: "A cup.",
      price: "18",
      available: "true",
      images: `{${image("cup%201")},${image("cup-2")}}`,
      featured_image: image("cup%201"),
      url: "https://shop.example/?p=20",
    },
  ]);
  expect(notes).toEqual([
    "Column 'Categories' is not used.",
    "Column 'Grouped products' is not used.",
    "1 row, on line 2: products of type variable are not stored: their variations are.",
    "1 row, on line 6: products of type grouped are not stored, since they cannot be put into a cart.",
    "1 row, on line 7: products of type external are not stored, since they cannot be put into a cart.",
  ]);
});

test("a parent may come later, be far away, and be named by its ID", async () => {
  const parent = { ...tea, SKU: "" };
  const child = { ...small, Parent: "id:10", SKU: "" };
  const others = Array.from({ length: 9_000 }, (_, n) => ({ ...cup, ID: String(n + 100), SKU: "" }));
  const expected = expect.objectContaining({
    id: "11",
    sku: "11",
    featured_image: image("tea"),
    title: "Tea & honey - 100 g",
  });
  for (const rows of [
    [child, ...others, parent],
    [parent, ...others, child],
  ]) {
    const { products, problems } = await read(rows);
    expect(problems).toEqual([]);
    expect(products).toContainEqual(expected);
    expect(products).toHaveLength(9_001);
  }
});

test("rows wait for their parents in bounded memory: one that waits too long is read as it is, and noted", async () => {
  const children = Array.from({ length: 10_001 }, (_, n) => ({ ...small, ID: String(n + 100), SKU: `s-${n}` }));
  const { products, problems, notes } = await read([...children, tea], { errorPolicy: "REJECT_FAILED" });
  expect(problems).toEqual(["2 featured_image: featured_image is required."]);
  expect(products).toHaveLength(10_001);
  expect(notes).toContain(
    "1 row, on line 2: the product that it belongs to is not in the file, or too far away from it.",
  );
});

test("a variation whose parent is not in the file is noted, and its problems have its line", async () => {
  const { problems, notes } = await read([cup, small]);
  expect(problems).toEqual(["3 featured_image: featured_image is required."]);
  expect(notes?.at(-1)).toBe(
    "1 row, on line 3: the product that it belongs to is not in the file, or too far away from it.",
  );
});

test.each([
  ["a sale", {}, { price: "18" }],
  ["a sale that has ended", { "Date sale price ends": "2020-01-01" }, { price: "20" }],
  ["a sale that has not begun", { "Date sale price starts": "2999-01-01" }, { price: "20" }],
  ["a price with a point and a comma", { "Sale price": "", "Regular price": "1.020,50" }, { price: "1020.5" }],
  ["no price", { "Sale price": "", "Regular price": "" }, { title: "Cup" }],
  ["a draft", { Published: "-1" }, { available: "false" }],
  ["a private product", { Published: "0" }, { available: "false" }],
  ["a product on backorder", { "In stock?": "backorder" }, { available: "true" }],
  ["no word on stock, and none", { "In stock?": "", Stock: "0" }, { available: "false" }],
  [
    "no word on stock, and backorders",
    { "In stock?": "", Stock: "0", "Backorders allowed?": "notify" },
    { available: "true" },
  ],
  ["a download", { Type: "simple, downloadable, virtual" }, { id: "20" }],
  ["no type", { Type: "" }, { id: "20" }],
  ["no ID", { ID: "" }, { id: "cup", sku: "cup", url: "https://shop.example/?p=cup" }],
  ["no SKU", { SKU: "" }, { id: "20", sku: "20" }],
])("%s", async (_, cells, expected) => {
  expect((await read([{ ...cup, ...cells }])).products).toMatchObject([expected]);
});

test("drafts have no variations to buy", async () => {
  expect((await read([{ ...tea, Published: "-1" }, small])).products).toMatchObject([{ available: "false" }]);
});

test("a byte order mark, quotes around the names and semicolons do not matter", async () => {
  const text = csvOf(header, [cup], ";").replace("ID;Type", '\uFEFF"ID";"Type"');
  expect((await readFile(text, { urlTemplate })).products).toEqual((await read([cup])).products);
});

test("an apostrophe before what a spreadsheet would take for a formula is not part of a cell", async () => {
  const draft = { ...cup, Published: "'-1", Name: "'+ Cup", SKU: "'=cup", Description: "'- warm", "In stock?": "1" };
  const quoted = { ...cup, ID: "21", SKU: "'90s", Name: "'90s cup", Stock: "'-3" };
  const { products, problems } = await read([draft, quoted]);
  expect(problems).toEqual([]);
  expect(products).toMatchObject([
    { sku: "=cup", title: "+ Cup", description: "- warm", available: "false" },
    { sku: "'90s", title: "'90s cup", available: "true" },
  ]);
});

test("products and variations that share a SKU, such as translations, are told apart by their ID", async () => {
  const hut = { ...cup, ID: "120", Name: "Tasse" };
  const klein = { ...small, ID: "111", Parent: "id:10", Name: "Tee - 100 g" };
  const { products, problems, notes } = await read([tea, small, klein, cup, hut]);
  expect(problems).toEqual([]);
  expect(products.map(({ id, sku }) => [id, sku])).toEqual([
    ["11", "11"],
    ["111", "111"],
    ["20", "20"],
    ["120", "120"],
  ]);
  expect(notes).toContain("4 rows, the first on line 3: other products have its SKU too, so that its id is its sku.");
});
