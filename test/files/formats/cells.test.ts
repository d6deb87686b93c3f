import { expect, test } from "vitest";
import { csvRow, readFile } from "../../support/catalog/formats.js";
import { boughtRow, layoutFiles } from "../../support/catalog/layoutFiles.js";

type Cells = Readonly<Record<string, string>>;

const options = { errorPolicy: "REJECT_FAILED", urlTemplate: "https://shop.example/{sku}" } as const;
const read = (cells: Cells) => readFile(csvRow(cells), options);

test.each(Object.entries(layoutFiles))("%s is recognized, and its row can be bought", async (format, layout) => {
  const products = [{ available: "true", price: "12.9" }];
  expect(await read(boughtRow(layout))).toMatchObject({ format, problems: [], products, skipped: 0 });
});

const published = Object.entries(layoutFiles).flatMap(([name, layout]) =>
  layout.published === undefined ? [] : [[name, boughtRow(layout), layout.published] as const],
);

// How words are read is tested with parseFlag; here, that each layout asks it.
test.each(published)(
  "%s: a word decides whether a product can be bought, and must be known",
  async (_, row, column) => {
    const products = async (word: string) => (await read({ ...row, [column]: word })).products;
    expect(await products("WAHR")).toMatchObject([{ available: "true" }]);
    expect(await products("FALSCH")).toMatchObject([{ available: "false" }]);
    for (const word of ["perhaps", "17", "x".repeat(500)]) {
      const { problems } = await read({ ...row, [column]: word });
      expect(problems, word).toEqual([expect.stringMatching(/^2 available: available must be true or false, not /u)]);
    }
  },
);

const sales = {
  woocommerce: ["Sale price", "Date sale price starts", "Date sale price ends"],
  magento: ["special_price", "special_price_from_date", "special_price_to_date"],
  squarespace: ["Sale Price"],
  bigcommerce: ["Sale Price"],
  google: ["sale_price"],
} as const;

const isUnused = (notes: readonly string[] = []) => notes.some((note) => note.includes("the sale price is not used"));

test.each(Object.entries(sales))("a sale of %s counts below the price; otherwise it is noted", async (name, [sale]) => {
  const row = boughtRow(layoutFiles[name as keyof typeof sales]);
  for (const [given, price, isNoted] of [
    ["9.50", "9.5", false],
    ["0.00", "12.9", true],
    ["-3", "12.9", true],
    ["12.91", "12.9", true],
    ["abc", "12.9", true],
  ] as const) {
    const { products, notes } = await read({ ...row, [sale]: given });
    expect([given, products[0]?.["price"], isUnused(notes)]).toEqual([given, price, isNoted]);
  }
});

test.each([sales.woocommerce, sales.magento] as const)(
  "%s counts between %s and %s, and is noted where these cannot be read",
  async (sale, from, to) => {
    const row = boughtRow(sale === "Sale price" ? layoutFiles.woocommerce : layoutFiles.magento);
    for (const [start, end, price, isNoted] of [
      ["31.12.2023", "31.12.2999", "9", false],
      ["31.12.2999", "", "12.9", false],
      ["", "31.12.2023", "12.9", false],
      ["05/01/2027", "", "12.9", true],
      ["", "soon", "12.9", true],
    ] as const) {
      const { products, notes } = await read({ ...row, [sale]: "9", [from]: start, [to]: end });
      expect([start, end, products[0]?.["price"], isUnused(notes)]).toEqual([start, end, price, isNoted]);
    }
  },
);

test("a column that stands twice is not taken for one in silence", async () => {
  const defaults = { available: "true", featured_image: "//a.b/1", url: "https://shop.example/a" };
  const twice = { map: { id: "Art", sku: "Art", title: "Art", price: "Preis" }, defaults };
  expect(await readFile("Art;Preis;Preis\na;1;2\n", twice)).toMatchObject({
    products: [],
    problems: ["1 price: The column for price appears more than once in this file. Rename all but one."],
  });
  const images = { map: { id: "Art", sku: "Art", title: "Art", images: "Bild" }, defaults };
  expect(await readFile("Art;Bild;Bild\na;//a.b/1;//a.b/2\n", images)).toMatchObject({
    problems: [],
    products: [{ images: "{//a.b/1,//a.b/2}" }],
  });
  const feed =
    "id,title,link,image_link,price,availability,availability\n1,Cup,//a.b,//a.b/1,5,out of stock,in stock\n";
  expect(await readFile(feed)).toMatchObject({
    products: [{ available: "false" }],
    notes: ["There are several columns 'availability': the first that is not empty counts."],
  });
});
