import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { readFile } from "../../support/catalog/formats.js";

const item = (id: string, more = "") => `
    <item>
      <title>The feed's title of ${id}</title>
      <g:title>Kettle &amp; lid ${id}</g:title>
      <link>https://shop.example/${id}?a=1&amp;b=2</link>
      <description><![CDATA[<p>Boils <b>water</b>.</p>]]></description>
      <g:id>${id}</g:id>
      <g:image_link>https://cdn.example/${id}.jpg</g:image_link>
      <g:additional_image_link>https://cdn.example/${id}-2.jpg</g:additional_image_link>
      <g:additional_image_link>https://cdn.example/${id}-3.jpg</g:additional_image_link>
      <g:price>49.90 EUR</g:price>
      <g:availability>in_stock</g:availability>
      <g:shipping><g:country>DE</g:country><g:price>4.90 EUR</g:price></g:shipping>${more}
    </item>`;
const rss = (...items: string[]) => `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0">
  <channel>
    <title>Shop</title>
    <link>https://shop.example</link>${items.join("")}
  </channel>
</rss>
`;
const kettle = (id: string, line: string) => ({
  line,
  id,
  sku: id,
  title: `Kettle & lid ${id}`,
  description: "Boils water.",
  price: "49.9",
  available: "true",
  images: `{https://cdn.example/${id}.jpg,https://cdn.example/${id}-2.jpg,https://cdn.example/${id}-3.jpg}`,
  featured_image: `https://cdn.example/${id}.jpg`,
  url: `https://shop.example/${id}?a=1&b=2`,
});

test("the items of an RSS feed are read in pieces of any size, and unused elements are reported once", async () => {
  for (const pieceBytes of [1, 7, 100_000]) {
    const { products, problems, notes, format } = await readFile(rss(item("k1"), item("k2")), { pieceBytes });
    expect({ problems, format }).toEqual({ problems: [], format: "google" });
    expect(products).toEqual([kettle("k1", "6"), kettle("k2", "19")]);
    expect(notes).toEqual(["Column 'g:shipping' is not used."]);
  }
});

test("items on one line are distinguished", async () => {
  const text = rss(item("k1"), item("k2")).replaceAll(/\n\s*/gu, "");
  expect((await readFile(text)).products.map(({ id }) => id)).toEqual(["k1", "k2"]);
});

test("Atom feeds have entries, links as attributes, and any prefix for Google's elements", async () => {
  const { products, problems } = await readFile(`<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:c="http://base.google.com/ns/1.0">
  <title>Shop</title>
  <entry>
    <id>tag:shop.example:1</id>
    <c:id>k1</c:id>
    <c:mpn>M-1</c:mpn>
    <title>Kettle</title>
    <link rel="self" href="https://shop.example/feed/1"/>
    <link href="https://shop.example/k1"/>
    <summary>Boils water.</summary>
    <c:image_link>https://cdn.example/k1.jpg</c:image_link>
    <c:price>49,90 EUR</c:price>
    <c:sale_price>39,90 EUR</c:sale_price>
    <c:availability>out of stock</c:availability>
  </entry>
</feed>`);
  expect(problems).toEqual([]);
  expect(products).toEqual([
    {
      line: "4",
      id: "k1",
      sku: "M-1",
      title: "Kettle",
      description: "Boils water.",
      price: "39.9",
      available: "false",
      images: "{https://cdn.example/k1.jpg}",
      featured_image: "https://cdn.example/k1.jpg",
      url: "https://shop.example/k1",
    },
  ]);
});

test("RSS 1.0 has its items beside the channel", async () => {
  const text = rss(item("k1"))
    .replace("<rss ", '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ')
    .replace("</rss>", "</rdf:RDF>");
  expect((await readFile(text)).products).toEqual([kettle("k1", "6")]);
});

test("mapped elements, defaults and templates work as for columns", async () => {
  const { products, problems, notes } = await readFile(rss(item("k1", "<g:color>red</g:color>")), {
    map: { title: "g:color", sku: "gtin" },
    defaults: { sku: "none" },
    urlTemplate: "https://other.example/{color}/{id}",
  });
  expect(problems).toEqual([]);
  expect(products).toMatchObject([{ title: "red", url: "https://other.example/red/k1" }]);
  expect(notes).toEqual(["Column 'g:shipping' is not used."]);
});

test.each([
  ["UTF-16LE", "\uFEFF", "utf-16le"],
  ["ISO-8859-1", "", "ISO-8859-1"],
])("a feed in %s is read as its mark or its declaration says", async (name, mark, encoding) => {
  const text = `${mark}${rss(item("k1")).replace("UTF-8", name).replace("Kettle", "Wasserköcher")}`;
  const { products, notes } = await readFile(iconv.encode(text, encoding));
  expect(products).toMatchObject([{ title: "Wasserköcher & lid k1" }]);
  expect(notes?.[0]).toBe(`The file was read as ${name}.`);
});

describe("a feed that is truncated or not well-formed is refused with the line", () => {
  const whole = rss(item("k1"), item("k2"));
  test.each([
    ["cut off", whole.slice(0, whole.indexOf("</channel>")), /^32 : The XML cannot be read: Unclosed root tag/u],
    ["cut off in an item", whole.slice(0, 900), /The XML cannot be read: Unclosed root tag/u],
    [
      "an element that is not closed",
      whole.replace("</g:price>", ""),
      /^\d+ : The XML cannot be read: Unexpected close tag/u,
    ],
    ["an ampersand", whole.replace("&amp;", "&"), /^8 : The XML cannot be read: .*\. Write & as &amp;\.$/u],
    [
      "another document",
      "<html><body>Not found</body></html>",
      /^1 : .*A feed starts with <rss>, <feed> or <rdf:RDF>, not <html>/u,
    ],
    [
      "an export of WordPress",
      '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel/></rss>',
      /Export products as CSV/u,
    ],
    ["too deep", `<rss>${"<a>".repeat(200)}`, /nested more than 100 deep/u],
    [
      "an entity of its own",
      whole.replace("?>", '?><!DOCTYPE rss [<!ENTITY x "y">]>').replace("Boils", "x").replace("lid", "&x;"),
      /Invalid character entity/u,
    ],
  ])("%s", async (_, text, problem) => {
    for (const errorPolicy of ["REJECT_ALL", "REJECT_FAILED"] as const) {
      const { problems } = await readFile(text, { errorPolicy });
      expect(problems).toEqual([expect.stringMatching(problem)]);
    }
  });

  test("an item without end is refused before it fills the memory", async () => {
    const { problems } = await readFile(`<rss><channel><item><description>${"x ".repeat(3_000_000)}`);
    expect(problems).toEqual([expect.stringContaining("The item is longer than 4194304 characters.")]);
  });
});

test("an item with a missing value is reported with its line, and the others are read", async () => {
  const broken = item("k2")
    .replace(/<g:image_link>.*<\/g:image_link>/u, "")
    .replaceAll(/<g:add.*link>/gu, "");
  const { products, problems } = await readFile(rss(item("k1"), broken, item("k3")), { errorPolicy: "REJECT_FAILED" });
  expect(products.filter(({ title }) => title !== undefined).map(({ id }) => id)).toEqual(["k1", "k3"]);
  expect(problems).toEqual(["19 featured_image: featured_image is required."]);
});

test("structured titles and descriptions are read", async () => {
  const nested = (name: string, content: string) =>
    `<g:${name}><g:digital_source_type>trained_algorithmic_media</g:digital_source_type><g:content>${content}</g:content></g:${name}>`;
  const structured = nested("structured_title", "Mug") + nested("structured_description", "Holds tea");
  const feed = rss(item("k1", structured)).replaceAll(/<(g:title|title|description)>.*?<\/\1>/gu, "");
  expect(await readFile(feed)).toMatchObject({
    problems: [],
    products: [{ title: "Mug", description: "Holds tea" }],
  });
});

test("only Google's feeds are XML", async () => {
  expect((await readFile(rss(item("k1")), { format: "shopify" })).problems).toEqual([
    "1 : XML is read as a Google feed (RSS or Atom) only.",
  ]);
});

test.each([
  ["elements of an item", "<g:image_link/>".repeat(10_001), "The item has more than 10000 elements."],
  [
    "attributes of an element",
    `<g:id ${Array.from({ length: 101 }, (_, n) => `a${n}=""`).join(" ")}/>`,
    "An element has more than 100 attributes.",
  ],
  ["bytes of attributes", `<g:x a="${"a".repeat(60_000)}"/>`.repeat(80), "The item is longer than 4194304 characters."],
  [
    "prefixes",
    Array.from({ length: 21 }, (_, n) => `<a xmlns:p${n}="http://base.google.com/ns/1.0"/>`).join(""),
    "Google's namespace has too many prefixes.",
  ],
])("too many %s end the reading", async (_, content, message) => {
  const { problems } = await readFile(rss(item("k1"), `<item>${content}`));
  expect(problems).toEqual([expect.stringContaining(`The XML cannot be read: ${message}`)]);
});

test("as many elements of an item and attributes as Google takes are read", async () => {
  const details = "<g:product_detail><g:section_name>a</g:section_name></g:product_detail>".repeat(1_000);
  const attributes = Array.from({ length: 90 }, (_, n) => ` a${n}="1"`).join("");
  const { products, problems } = await readFile(rss(item("k1", `${details}<g:x${attributes}/>`)));
  expect({ problems, ids: products.map(({ id }) => id) }).toEqual({ problems: [], ids: ["k1"] });
});
