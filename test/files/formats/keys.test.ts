import { describe, expect, test } from "vitest";
import { readFile } from "../../support/catalog/formats.js";
import { read } from "../../support/catalog/csvReading.js";
import { checkProduct } from "../../../src/files/product/product.input.js";
import { Problems } from "../../../src/errors.js";

const note =
  "1 row, on line 2: control and format characters at the ends of its id, its sku or a name of its product are left out.";
const header = "id,sku,title,available,featured_image,url";

describe("characters that nobody sees, at the ends of ids and skus of files, are left out and noted", () => {
  test("in Vitrine's columns", async () => {
    const { rows, result } = await read(`${header}\n\u200b1,"a\u00ad\n",T,true,//a.b/1,//a.b\n`);
    expect(rows).toMatchObject([{ id: "1", sku: "a" }]);
    expect(result.notes).toEqual([note]);
  });

  test.each([
    ["mapped", "Nr,title\n\u200b7\u202c,T\n", { map: { id: "Nr", sku: "Nr" }, defaults: { available: "true" } }],
    ["of Shopify", "Handle,Title,Variant SKU,Variant Price\nmug\ufeff,T,7\u200d,5\n", { defaults: {} }],
  ])("%s", async (_, file, options) => {
    const given = { urlTemplate: "https://a.example/{sku}", ...options };
    const { products, notes } = await readFile(file, {
      ...given,
      defaults: { ...options.defaults, featured_image: "//a.b/1" },
    });
    expect(products).toMatchObject([{ id: "7", sku: "7", url: "https://a.example/7" }]);
    expect(notes).toContain(note);
  });

  test("in XML", async () => {
    const feed = `<rss xmlns:g="http://base.google.com/ns/1.0"><channel>
      <item><g:id>&#x200b;7</g:id><title>T</title><link>//a.b</link><g:image_link>//a.b/1</g:image_link><g:price>1</g:price><g:availability>in stock</g:availability></item></channel></rss>`;
    const { products, notes } = await readFile(feed);
    expect(products).toMatchObject([{ id: "7", sku: "7" }]);
    expect(notes).toEqual([note]);
  });

  test("a row with others within its id fails", async () => {
    const { result } = await read(`${header}\na\u200bb,c,T,true,//a.b/1,//a.b\n`);
    expect(result.problems.list).toMatchObject([{ path: ["csvContent", "id"], line: 2, code: "INVALID_VALUE" }]);
  });
});

test.each(["a\u200bb", "a\nb", "\u202eab", "ab\ufeff", "a\u0007"])("an import refuses the id and sku %j", (key) => {
  const problems = new Problems();
  checkProduct(
    { id: key, sku: key, title: key, available: true, featured_image: "//a.b/1", url: "//a.b" },
    { path: [] },
    problems,
  );
  expect(problems.list.map(({ path, code }) => [path.join("."), code])).toEqual([
    ["id", "INVALID_VALUE"],
    ["sku", "INVALID_VALUE"],
  ]);
});
