import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { isEncoding } from "../../../src/files/encoding/decode.js";
import { parseFormatOptions } from "../../../src/files/formats/options.js";
import { csvOf, readFile } from "../../support/catalog/formats.js";

const header = "id,sku,title,available,featured_image,url";
const pot = {
  id: "1",
  sku: "S-1",
  title: "Töpfchen – „groß“",
  available: "true",
  featured_image: "//cdn.example/1",
  url: "//shop.example/1",
};
const text = csvOf(header, [pot, { ...pot, id: "2", sku: "S-2" }]);
const titles = async (content: Buffer, options = {}) =>
  (await readFile(content, options)).products.map(({ title }) => title);

describe("text is read in pieces of any size", () => {
  test.each([
    ["utf-8", {}],
    ["utf-8", { addBOM: true }],
    ["utf-16le", { addBOM: true }],
    ["utf-16be", { addBOM: true }],
  ])("as UTF-8, or as its mark says: %s %j", async (encoding, options) => {
    const content = iconv.encode(text, encoding, options);
    for (const pieceBytes of [1, 3, 100_000]) {
      expect(await titles(content, { pieceBytes })).toEqual([pot.title, pot.title]);
    }
    expect(await titles(content, { encoding: "utf-8", map: { title: "Title" } })).toEqual([pot.title, pot.title]);
  });

  test.each(["windows-1252", "macintosh", "utf-16le"])("in %s, given by an option", async (encoding) => {
    const { products, notes } = await readFile(iconv.encode(text, encoding), { encoding, pieceBytes: 3 });
    expect(products.map(({ title }) => title)).toEqual([pot.title, pot.title]);
    expect(notes).toEqual([`The file was read as ${encoding}.`]);
  });
});

test.each([
  [
    "no UTF-8",
    iconv.encode(text, "windows-1252"),
    {},
    'Line 2 is not valid UTF-8. It may be windows-1252 ("Töpfchen"), or ',
  ],
  ["not what is named", Buffer.from(text), { encoding: "us-ascii" }, "Line 2 is not valid us-ascii."],
])(
  "text that is %s is refused with its line, in Vitrine's columns and mapped",
  async (_, content, options, message) => {
    for (const map of [undefined, { title: "title" }]) {
      const { problems, products } = await readFile(content, { ...options, map, errorPolicy: "REJECT_FAILED" });
      expect({ problems, products }).toEqual({ problems: [expect.stringContaining(message)], products: [] });
    }
  },
);

describe("mappings", () => {
  const foreign =
    "Nr;Titel;Preis;Bilder;Lager;title\n7;Topf <b>gross</b>;1.049,00 €;//cdn.example/1|//cdn.example/2;3;Other\n";
  const map = { id: "NR", sku: "nr", title: " titel ", price: "Preis", images: "Bilder", available: "Lager" };

  test("take fields from columns of any name, in letters of any case; defaults fill what is missing", async () => {
    const options = { map, defaults: { description: "Handmade" }, urlTemplate: "https://shop.example/{nr}" };
    const { products, problems, notes, format } = await readFile(foreign, options);
    expect({ problems, notes, format }).toEqual({ problems: [], notes: [], format: "vitrine" });
    expect(products).toEqual([
      {
        line: "2",
        id: "7",
        sku: "7",
        title: "Topf gross",
        description: "Handmade",
        price: "1049",
        available: "true",
        images: "{//cdn.example/1,//cdn.example/2}",
        featured_image: "//cdn.example/1",
        url: "https://shop.example/7",
      },
    ]);
  });

  test("come before the columns of a format", async () => {
    const shopify = "Handle,Title,Variant Price,Cost,Image Src\nmug,Mug,12,5,//cdn.example/1\n";
    const options = {
      map: { price: "Cost" },
      defaults: { available: "no" },
      urlTemplate: "https://shop.example/{handle}",
    };
    expect((await readFile(shopify, options)).products).toMatchObject([{ price: "5", available: "true" }]);
  });

  test.each([
    [
      "a column that is not there",
      { map: { ...map, title: "Name" } },
      "1 title: There is no column 'Name' for title in this file.",
    ],
    [
      "a placeholder that is not there",
      { map, urlTemplate: "https://a.example/{slug|key}" },
      "1 url: The URL template has {slug|key}, but this file has no such column.",
    ],
    [
      "a field that nothing gives",
      { map: { ...map, id: "Nr", available: "" } },
      "1 available: There is no column '' for available in this file.",
    ],
    [
      "variants",
      { map, onePer: "product" as const },
      "1 : One product for all variants needs a file with its variants in adjacent rows, such as Shopify's.",
    ],
  ])("%s is reported once", async (_, options, problem) => {
    const { problems } = await readFile(foreign, { urlTemplate: "https://a.example/{nr}", ...options });
    expect(problems).toEqual([problem]);
  });
});

test("a given delimiter is used, whatever the header looks like", async () => {
  const tabs = "id\tsku\ttitle\tavailable\tfeatured_image\turl;,\n".replace(";,", "");
  const content = `${tabs}1\t1\ta,b;c\ttrue\t//cdn.example/1\t//shop.example/1\n`;
  expect((await readFile(content, parseFormatOptions({ delimiter: "tab" }))).products).toMatchObject([
    { title: "a,b;c" },
  ]);
  expect((await readFile(content, parseFormatOptions({ delimiter: "semicolon" }))).products).toEqual([]);
});

test("an empty file is not taken for UTF-16", async () => {
  for (const content of ["", "\n"]) {
    const { problems, notes } = await readFile(content);
    expect({ problems, notes }).toEqual({ problems: [expect.stringContaining("The CSV text is empty")], notes: [] });
  }
});

test("options that are sent as text are checked", () => {
  expect(
    parseFormatOptions({ format: "Shopify", delimiter: ";", encoding: "latin1", onePer: "PRODUCT" }),
  ).toMatchObject({
    format: "shopify",
    delimiter: ";",
    onePer: "product",
  });
  for (const texts of [
    { format: "excel" },
    { delimiter: "|" },
    { encoding: "base64" },
    { map: { titel: "x" } },
    { urlTemplate: "x" },
  ]) {
    expect(() => parseFormatOptions(texts)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  }
});

test("every encoding that can be named reads any bytes, or names the line", async () => {
  const { encodings } = iconv as unknown as { readonly encodings: Readonly<Record<string, unknown>> };
  const rows = Buffer.from(csvOf(header, [{ ...pot, title: "Pot" }]));
  const isAlias = (name: string) => typeof encodings[name] === "string";
  const names = Object.keys(encodings).filter((name) => isEncoding(name) && !isAlias(name));
  expect(names).toContain("shiftjis");
  for (const encoding of names) {
    for (const end of [[], [0xed, 0xe4, 0xff]]) {
      const { problems, products } = await readFile(Buffer.concat([rows, Buffer.from(end)]), { encoding });
      expect(problems.length + products.length, encoding).toBeGreaterThan(0);
    }
  }
});

test.each([
  ["windows-1252", "Käse;Größe;Café;Crème brûlée"],
  ["windows-1250", "Żółć;Gęś;Łódź"],
  ["macintosh", "Käse;Größe"],
  ["windows-1251", "Чашка;Кружка"],
  ["shift_jis", "マグカップ;皿"],
  ["gb18030", "杯子;盘子"],
])("a text in %s is among two or three likely encodings, with how it reads", async (encoding, words) => {
  for (const isCommand of [true, false]) {
    const { problems } = await readFile(iconv.encode(`${header}\n${words},x`, encoding), { isCommand });
    expect(problems).toHaveLength(1);
    const named = [...(problems[0] ?? "").matchAll(/(?:be|or) ([\w-]+) \("([^"]*)"\)/gu)].map(([, name, sample]) => [
      name,
      sample,
    ]);
    expect(named.length).toBeGreaterThan(1);
    expect(named.length).toBeLessThanOrEqual(3);
    expect(named).toContainEqual([encoding, words.split(/[;, ]/u, 1)[0]]);
    expect(problems[0]).toContain(
      isCommand ? "--encoding NAME, and see by --dry-run" : "encoding=NAME, and see by dryRun=true",
    );
  }
});
