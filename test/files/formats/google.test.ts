import { expect, test } from "vitest";
import { csvRow, expectRead, type FileCase, readFile } from "../../support/catalog/formats.js";

const header = "id,title,description,link,image_link,additional_image_link,availability,price";
const jacket = 'j-m,Jacket,"Warm; 5"" zip",//a.b,//a.b/1,"//a.b/2,//a.b/3",in stock,349.00 EUR';
const without = jacket.replace("j-m", "");
const tabs = [
  "id\ttitle\tlink\timage_link\tavailability\tprice",
  "1\tJacket, warm\t//a.b\t//a.b/1\tin stock\t349.00 EUR",
];
const missing = (line: number) => [`${line} id: id is required.`, `${line} sku: sku is required.`];
const withMpns = (...mpns: string[]) => [
  `${header},mpn`,
  ...mpns.map((mpn, n) => `${jacket.replace("j-m", `i${n}`)},${mpn}`),
];
const bought = (...names: string[]) => names.map((name, n) => `${n + 2}: ${name} | Jacket | 349 | true`);

const files: readonly Omit<FileCase, "format">[] = [
  {
    name: "an item has its images and texts",
    file: [`${header},brand`, `${jacket},Northern`],
    products: bought("j-m"),
    details: [
      { description: 'Warm; 5" zip', images: "{//a.b/1,//a.b/2,//a.b/3}", featured_image: "//a.b/1", url: "//a.b" },
    ],
    notes: ["Column 'brand' is not used."],
  },
  { name: "a feed of tabs", file: tabs, products: ["2: 1 | Jacket, warm | 349 | true"] },
  {
    name: "names may be written with spaces, capitals and the prefix of the XML form",
    file: [header.replace("image_link,additional_image_link", "Image Link,g:additional image link"), jacket],
    products: bought("j-m"),
    details: [{ images: "{//a.b/1,//a.b/2,//a.b/3}" }],
  },
  {
    name: "several columns of images count",
    file: [`${header},additional_image_link`, `${jacket},//a.b/4`],
    products: bought("j-m"),
    details: [{ images: "{//a.b/1,//a.b/2,//a.b/3,//a.b/4}" }],
  },
  {
    name: "missing and unknown values are reported with their line",
    file: [
      header,
      jacket.replace("//a.b,", ",").replace("in stock", "perhaps"),
      without,
      jacket.replace("in stock", ""),
    ],
    products: [],
    problems: [
      '2 available: available must be true or false, not "perhaps".',
      "2 url: url is required.",
      ...missing(3),
      "4 available: available is required.",
    ],
  },
  {
    name: "where each item has an mpn of its own, that is its sku",
    file: withMpns("M", "O"),
    products: bought("i0 / M", "i1 / O"),
  },
  ...[
    ["M", "M"],
    ["M", ""],
  ].map((mpns) => ({
    name: `otherwise its id is: ${mpns.join()}`,
    file: withMpns(...mpns),
    products: bought("i0", "i1"),
  })),
  {
    name: "a title that is plain text keeps <M> and a<b",
    file: [header, jacket.replace("Jacket", "Shirt <M>").replace("Warm;", "a<b and <3;")],
    products: ["2: j-m | Shirt <M> | 349 | true"],
    details: [{ description: 'a<b and <3; 5" zip' }],
  },
  {
    name: "structured titles and descriptions are read",
    file: [
      "id,structured_title,structured_description,link,image_link,availability,price",
      '1,"trained_algorithmic_media:""Mug, """"big""""""",default:Holds tea,//a.b,//a.b/1,in stock,12',
    ],
    products: ['2: 1 | Mug, "big" | 12 | true'],
    details: [{ description: "Holds tea" }],
  },
  ...(
    [
      ["comments", "# Required | A unique id,# Required | The title,# Optional | The link,,,"],
      ["a comment in quotes", '"# Required | With, a comma",,,,,'],
      ["two comments with Meta's ids", "# ref_application_id 123,,,,,\n# ref_asset_id 456,,,,,"],
      [
        "a comment and how to fill it in",
        "#LEARN HOW TO FILL THIS TEMPLATE,,,\n# Required | A unique id,# Optional | x",
      ],
      ["Excel's separator", "sep=,"],
      ["a byte order mark, Excel's separator and comments", "\uFEFFsep=,\r\n# Required | A unique id,,,"],
    ] as const
  ).map(([name, above]) => {
    const lines = above.split("\n").length;
    const products = [`${2 + lines}: j-m | Jacket | 349 | true`];
    return {
      name: `${name} above the header`,
      file: [above, header, jacket, without],
      products,
      problems: missing(3 + lines),
    };
  }),
];

test.each(files)("$name", (file) => expectRead({ format: "google", options: { urlTemplate: undefined }, ...file }));

test("Excel's separator counts in a file of Vitrine's own columns", async () => {
  const own = 'sep=;\nid;sku;title;available;featured_image;url\n1;1;"a,b";true;//a.b/1;//a.b\n';
  expect((await readFile(own)).products).toMatchObject([{ id: "1", title: "a,b", line: "3" }]);
});

const item = { id: "1", title: "Mug", link: "//a.b", image_link: "//a.b/1", price: "12 EUR", availability: "in stock" };

test("a feed without a column of availability is refused, unless a default says it", async () => {
  const { availability: _, ...rest } = item;
  expect((await readFile(csvRow(rest))).problems).toEqual([
    expect.stringMatching(/^1 available: There is no column for available/u),
  ]);
  expect((await readFile(csvRow(rest), { defaults: { available: "true" } })).products).toMatchObject([
    { available: "true" },
  ]);
});

test.each([
  ["2020-01-01T00:00+0100/2999-01-01T00:00+0100", "9"],
  ["2020-01-01T00:00+0100 / 2999-01-01T00:00+0100", "9"],
  ["2020-01-01/2020-02-01", "12"],
  ["2020-01-01T0:00-23:59/2999-01-01T0:00-23:59", "9"],
  ["2020-01-01 - 2999-01-01", "9"],
  ["13/01/2020 / 28/02/2999", "9"],
  ["2020-01-01", "12"],
  ["01/02/2020 / 01/02/2999", "12"],
])("a sale from %s", async (dates, price) => {
  const sale = { ...item, sale_price: "9,00 EUR", sale_price_effective_date: dates };
  expect((await readFile(csvRow(sale))).products).toMatchObject([{ price }]);
});
