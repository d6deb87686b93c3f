import { brotliCompressSync, gzipSync } from "node:zlib";

/** A file that is made to hold up or to end the process that reads it. */
export interface HostileFile {
  readonly path: "csv" | "bulk";
  readonly type: string;
  readonly query?: string;
  readonly coding?: string;
  readonly body: string | Buffer;
}

const bytes = 1_000_000;
const repeated = (text: string, length = bytes): string => text.repeat(Math.ceil(length / Buffer.byteLength(text)));

function numbered(make: (n: number) => string, length = bytes): string {
  const parts: string[] = [];
  for (let [n, total] = [0, 0]; total < length; n += 1) {
    const part = make(n);
    parts.push(part);
    total += part.length;
  }
  return parts.join("");
}

const csv = (body: string): HostileFile => ({ path: "csv", type: "text/csv", body });
const system = (body: string, more = ""): HostileFile => ({
  ...csv(body),
  query: `?format=auto&urlTemplate=https://shop.example/%7Bhandle|sku|description%7D${more}`,
});
const lines = (body: string): HostileFile => ({ path: "bulk", type: "application/x-ndjson", body });
const list = (elements: string): HostileFile => ({
  path: "bulk",
  type: "application/json",
  body: `{"products":[${elements}]}`,
});
const text = (content: string): HostileFile => ({
  path: "csv",
  type: "application/json",
  body: JSON.stringify({ csvContent: content }),
});
const compressed = (file: HostileFile, coding: "gzip" | "br"): HostileFile => ({
  ...file,
  coding,
  body: (coding === "gzip" ? gzipSync : brotliCompressSync)(file.body),
});

const own = "id,sku,title,available,featured_image,url\n";
const ownImages = own.replace("\n", ",images\n1,1,t,true,//a.b/c,//a.b/c,");
const shopify = "Handle,Title,Body (HTML),Variant SKU,Variant Price,Option1 Value,Image Src\n";
const woocommerce = "ID,Type,SKU,Name,Parent,Description,Regular price,In stock?,Images,Attribute 1 value(s)\n";
const magento =
  "sku,product_type,name,description,price,base_image,configurable_variations,associated_skus,visibility,url_key\n";
const google = "id\ttitle\tdescription\tlink\timage_link\tprice\tavailability\n";
const feed = '<rss xmlns:g="http://base.google.com/ns/1.0"><channel>';
const described = (html: string): string =>
  `${feed}<item><g:id>1</g:id><g:description><![CDATA[${html}]]></g:description></item></channel></rss>`;

const half = bytes / 2;

/** Each layout that turns HTML into text, as the header and a row of one product, whose description has the place of `…`. */
const layouts: Readonly<Record<string, readonly [header: string, row: string]>> = {
  Shopify: [shopify, "h,t,…,s,1,a,//a.b/c"],
  Matrixify: [
    "Handle,Command,Title,Body HTML,Variant SKU,Variant Price,Image Src,URL\n",
    "h,NEW,t,…,s,1,//a.b/c,//a.b",
  ],
  WooCommerce: [woocommerce, "1,simple,w,n,,…,1,1,//a.b/c,"],
  Magento: [magento, "s,simple,n,…,1,//a.b/c,,,4,k"],
  PrestaShop: ["Product ID,Active (0/1),Name *,Description,Price (tax incl.),Image\n", "1,1,n,…,1,//a.b/c"],
  Wix: ["handleId,fieldType,name,description,productImageUrl,price,visible\n", "h,Product,n,…,//a.b/c,1,true"],
  Squarespace: [
    "Product ID [Non Editable],Product URL,Title,Description,SKU,Price,Visible,Hosted Image URLs\n",
    "1,u,t,…,s,1,Yes,//a.b/c",
  ],
  BigCommerce: [
    "Item,ID,Name,SKU,Options,Description,Price,Is Visible,Internal Image URL (Export)\n",
    "Product,1,n,s,,…,1,TRUE,//a.b/c",
  ],
  Etsy: ["TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,IMAGE1,SKU\n", "t,…,1,EUR,1,//a.b/c,s"],
  Ecwid: [
    "type,product_internal_id,product_sku,product_name,product_description,product_price,product_is_available,product_media_main_image_url\n",
    "product,1,s,n,…,1,true,//a.b/c",
  ],
  "Google, TSV": [google, "1\tt\t…\t//a.b\t//a.b/c\t1 EUR\tin stock"],
};

const html: Readonly<Record<string, string>> = {
  cells: repeated("<td colspan=1000000000 rowspan=65534>x"),
  lists: repeated("<ol type=I start=99999999999><li>x"),
  "tags without an end": repeated("<p><a"),
  entities: repeated("&amp;&#1114111;&CounterClockwiseContourIntegra"),
};

const descriptions = Object.entries(html).flatMap(([kind, markup]): [string, HostileFile][] => [
  ...Object.entries(layouts).map(([name, [header, row]]): [string, HostileFile] => [
    `${name}: a description of ${kind}`,
    system(header + row.replace("…", markup)),
  ]),
  [`Google, XML: a description of ${kind}`, system(described(markup))],
]);

export const hostileFiles: Readonly<Record<string, HostileFile>> = {
  ...Object.fromEntries(descriptions),
  "CSV: a header of commas": csv(repeated(",")),
  "CSV: a header of names": csv(numbered((n) => `c${n},`)),
  "CSV: short rows": csv(own + repeated("a\n")),
  "CSV: a row of quotes in cells": csv(own + repeated('a"')),
  "CSV: a row of cells of white space": csv(own + repeated(' ,"" ')),
  "CSV: nested images": csv(ownImages + repeated("[", half) + repeated("]", half)),
  "CSV below 128 KiB: nested images": csv(ownImages + repeated("[", 60_000) + repeated("]", 60_000)),
  "CSV below 128 KiB: a row of quotes in cells": csv(own + repeated('a"', 120_000)),
  "CSV below 128 KiB: a header of commas": csv(repeated(",", 120_000)),
  "csvContent: short rows": text(own + repeated("a\n")),
  "csvContent below 128 KiB: short rows": text(own + repeated("a\n", 120_000)),
  "NDJSON: brackets": lines(repeated("[", half) + repeated("]", half)),
  "NDJSON: open brackets": lines(repeated("[")),
  "NDJSON: empty objects": lines(repeated("{}\n")),
  "NDJSON: empty objects in one line": lines(`[${repeated("{},")}0]`),
  "NDJSON: fields": lines(`{${numbered((n) => `"k${n}":0,`)}"z":0}`),
  "NDJSON: blank lines": lines(repeated("\n")),
  "NDJSON below 128 KiB: brackets": lines(repeated("[", 60_000) + repeated("]", 60_000)),
  "NDJSON below 128 KiB: empty objects": lines(repeated("{}\n", 120_000)),
  "JSON: empty objects": list(`${repeated("{},")}{}`),
  "JSON below 256 KiB: empty objects": list(`${repeated("{},", 250_000)}{}`),
  "JSON: fields": list(`{${numbered((n) => `"k${n}":0,`)}"z":0}`),
  "JSON below 256 KiB: fields": list(`{${numbered((n) => `"k${n}":0,`, 250_000)}"z":0}`),
  "XML: elements of an item": system(`${feed}<item>${repeated("<g:image_link/>")}`),
  "XML: attributes": system(`${feed}<item><g:id ${numbered((n) => `a${n}="1" `)}/>`),
  "XML: attributes of the feed": system(`<rss ${numbered((n) => `a${n}="1" `)}>`),
  "XML: prefixes": system(feed + numbered((n) => `<a xmlns:b${n}="base.google.com/ns/"/>`)),
  "XML: items": system(feed + repeated("<item/>")),
  "XML: depth": system(repeated("<rss>")),
  "XML: faults": system(feed + repeated("&")),
  "XML: text": system(`${feed}<item><g:id>${repeated("&lt;")}`),
  "XML: a type of document": system(`<!DOCTYPE rss [${repeated('<!ENTITY a "b">')}`),
  "XML: HTML": system(described(repeated("<ol type=I start=99999999999><li><td colspan=200000>"))),
  "TSV: a column over and over": system(`${repeated("id\t", half)}title\tlink\n${repeated("x\n", half)}`),
  "TSV: HTML": system(google + repeated("1\tt\t<td colspan=1000000000>x\t//a.b\t//a.b\t1\t1\n")),
  "Shopify: a long product": system(
    `${shopify}h,t,${repeated("<p>", half)},,1,a,//a.b/c\n${repeated("h,,,,1,b,\n", half)}`,
  ),
  "Shopify: a long title": system(`${shopify}h,${repeated("t", half)},d,,1,a,//a.b\n${repeated("h,,,,1,b,\n", half)}`),
  "Shopify: images": system(
    `${shopify}h,t,d,,1,a,//a.b\n${numbered((n) => `h,,,,,,//a.b/${n}\n`, half)}${repeated("h,,,,1,b,\n", half)}`,
  ),
  "Shopify: products": system(shopify + numbered((n) => `h${n},t,,,1,,\n`)),
  "WooCommerce: a long parent": system(
    `${woocommerce}1,variable,p,n,,${repeated("<td>x", half)},1,1,//a.b/c,\n${numbered((n) => `${n},variation,,,p,,1,1,,r\n`, half)}`,
  ),
  "WooCommerce: waiting rows": system(
    `${woocommerce}${numbered((n) => `${n},variation,s${n},,p,,1,1,,r\n`)}1,variable,p,n,,d,1,1,//a.b,\n`,
  ),
  "WooCommerce: bars": system(`${woocommerce}1,simple,p,n,,d,1,1,${repeated("|")},\n`),
  "Magento: children": system(`${magento}p,configurable,n,d,1,/a,"${repeated("|sku=a")}",,,\n`),
  "Magento: groups": system(`${magento}p,grouped,n,d,1,/a,,"${numbered((n) => `a${n},`)}",,\n`),
  "Magento: parents": system(magento + numbered((n) => `a${n},grouped,,,,,,b${n},,\n`)),
  "gzip: 50 MB of elements": compressed(system(`${feed}<item>${repeated("<g:image_link/>", 50 * bytes)}`), "gzip"),
  "gzip: 30 MB of attributes": compressed(system(`${feed}<item ${numbered((n) => `a${n}="" `, 30 * bytes)}`), "gzip"),
  "br: 50 MB of one cell": compressed(csv(own + repeated('"', 50 * bytes)), "br"),
};
