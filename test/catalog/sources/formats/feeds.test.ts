import { expect, test } from "vitest";
import { csvOf, readFile } from "../../../support/catalog/formats.js";

const image = "https://cdn.example/1.jpg";
const item = {
  id: "1",
  title: "Mug",
  link: "https://shop.example/1",
  image_link: image,
  price: "12 EUR",
  availability: "in stock",
};
const feed = (...cells: Readonly<Record<string, string>>[]) => {
  const rows = cells.map((more) => ({ ...item, ...more }));
  return readFile(csvOf([...new Set(rows.flatMap(Object.keys))].join(","), rows, "\t"), {
    errorPolicy: "REJECT_FAILED",
  });
};

test.each([
  [
    "true",
    "in stock|in_stock|InStock|https://schema.org/InStock|http://schema.org/PreOrder|preorder|pre-order|pre_order|backorder|back order|available for order|limited availability|published",
  ],
  [
    "false",
    "out of stock|out_of_stock|OutOfStock|https://schema.org/OutOfStock|sold out|sold_out|SoldOut|discontinued|reserved|mark as sold|pending",
  ],
])("availability is %s for all words of Google, Meta and schema.org", async (expected, words) => {
  for (const availability of words.split("|")) {
    expect((await feed({ availability })).products, availability).toMatchObject([{ available: expected }]);
  }
});

test("an item that does not say whether it can be bought is a problem, and so is a feed without the column", async () => {
  expect((await feed({ availability: "" })).problems).toEqual(["2 available: available is required."]);
  const { availability: _, ...rest } = item;
  const file = csvOf(Object.keys(rest).join(","), [rest], "\t");
  expect((await readFile(file)).problems).toEqual([
    expect.stringMatching(/^1 available: There is no column for available/u),
  ]);
  expect((await readFile(file, { defaults: { available: "true" } })).products).toMatchObject([{ available: "true" }]);
});

test("Google's dates have blanks around their slash, and both are needed", async () => {
  const sale = { sale_price: "9 EUR" };
  const on = async (dates: string) =>
    (await feed({ ...sale, sale_price_effective_date: dates })).products[0]?.["price"];
  expect(await on("2020-01-01T00:00+0100 / 2999-01-01T00:00+0100")).toBe("9");
  expect(await on("2020-01-01/2020-02-01")).toBe("12");
  expect(await on("2020-01-01")).toBe("12");
  expect(await on("01/02/2020 / 01/02/2999")).toBe("12");
});

test("variants that share an mpn have their id as sku; where each item has its own mpn, that is the sku", async () => {
  const skus = async (...mpns: string[]) =>
    (await feed(...mpns.map((mpn, n) => ({ id: `i${n}`, mpn })))).products.map(({ sku }) => sku);
  expect(await skus("M", "M", "N")).toEqual(["i0", "i1", "i2"]);
  expect(await skus("M", "", "N")).toEqual(["i0", "i1", "i2"]);
  expect(await skus("M", "O", "N")).toEqual(["M", "O", "N"]);
});

test("comments and Excel's separator above the header are skipped, and lines stay those of the file", async () => {
  const rows = csvOf(Object.keys(item).join(","), [item, { ...item, id: "" }]);
  const comments = "# Required | A unique id,# Required | The title,# Optional | The link,,,\n";
  for (const [before, lines] of [
    [comments, 1],
    ["sep=,\n", 1],
    [`\uFEFFsep=,\r\n${comments}`, 2],
    [`"# Required | With, a comma",,,,,\n`, 1],
  ] as const) {
    const { format, products, problems } = await readFile(before + rows, { errorPolicy: "REJECT_FAILED" });
    expect({ format, ids: products.flatMap(({ id }) => id ?? []), problems }).toEqual({
      format: "google",
      ids: ["1"],
      problems: [`${3 + lines} id: id is required.`, `${3 + lines} sku: sku is required.`],
    });
  }
  const own = 'sep=;\nid;sku;title;available;featured_image;url\n1;1;"a,b";true;//cdn.example/1;//shop.example/1\n';
  expect((await readFile(own)).products).toMatchObject([{ id: "1", title: "a,b", line: "3" }]);
});

test("structured titles and descriptions are read in columns and XML", async () => {
  const structured = 'trained_algorithmic_media:"Mug, ""big"""';
  const read1 = await feed({ title: "", structured_title: structured, structured_description: "default:Holds tea" });
  expect(read1.products).toMatchObject([{ title: 'Mug, "big"', description: "Holds tea" }]);
  const nested = (name: string, content: string) =>
    `<g:${name}><g:digital_source_type>trained_algorithmic_media</g:digital_source_type><g:content>${content}</g:content></g:${name}>`;
  const { products, problems } =
    await readFile(`<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:id>1</g:id>
    ${nested("structured_title", "Mug")}${nested("structured_description", "Holds tea")}<g:link>https://shop.example/1</g:link>
    <g:image_link>${image}</g:image_link><g:price>12 EUR</g:price><g:availability>in_stock</g:availability></item></channel></rss>`);
  expect({ products, problems }).toMatchObject({
    problems: [],
    products: [{ title: "Mug", description: "Holds tea" }],
  });
});
