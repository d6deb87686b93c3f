import { describe, test } from "vitest";
import { readNdjson } from "../../src/catalog/sources/ndjson.js";
import { readCsv } from "../../src/catalog/sources/csv/csv.js";
import { textPieces } from "../../src/catalog/sources/csv/pieces.js";
import type { FormatReadOptions } from "../../src/catalog/sources/formats/opened.js";
import { readCatalog } from "../../src/catalog/sources/formats/read.js";
import { AppError } from "../../src/errors.js";
import { expectLinear, expectWithin } from "../support/repetitions.js";

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

async function readAll(reader: AsyncIterator<unknown>): Promise<void> {
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
}

/** What is no text of rows may be refused at once. */
const readFile = (text: string, options: FormatReadOptions = {}) =>
  readAll(
    readCatalog(() => piecesOf(Buffer.from(text)), { urlTemplate: "https://shop.example/{id|sku|handle}", ...options }),
  ).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

/** The columns that a layout reads. */
const layouts = {
  vitrine: "id,sku,title,description,price,price_min,price_max,available,images,featured_image,url",
  shopify:
    "Handle,Title,Body (HTML),Published,Status,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Image Src,Image Position,Variant Image",
  woocommerce:
    "ID,Type,SKU,Name,Published,Description,In stock?,Stock,Backorders allowed?,Sale price,Date sale price starts,Date sale price ends,Regular price,Images,Parent,Attribute 1 value(s)",
  magento:
    "sku,product_type,name,description,price,special_price,special_price_from_date,special_price_to_date,product_online,is_in_stock,qty,allow_backorders,base_image,additional_images,url_key,visibility,configurable_variations,associated_skus,store_view_code",
  google:
    "id,mpn,title,description,link,image_link,additional_image_link,price,sale_price,sale_price_effective_date,availability",
} as const;

describe.each(Object.entries(layouts))("%s", (format, header) => {
  const columns = header.split(",");

  test("any cell", async () => {
    await expectLinear((cell) => {
      const row = columns.map(() => quoted(cell.slice(0, cell.length / columns.length))).join(",");
      return readFile(`${header}\n${row}\n`, { format: format as keyof typeof layouts });
    });
  });

  test("each cell alone, with others as a product has them", async () => {
    for (const column of columns) {
      const [before, after] = [columns.indexOf(column), columns.length - columns.indexOf(column) - 1];
      await expectLinear(
        (cell) => {
          const row = [
            ...Array.from({ length: before }, () => "1"),
            quoted(`x${cell}x`),
            ...Array.from({ length: after }, () => "1"),
          ];
          return readFile(`${header}\n${row.join(",")}\n`, { format: format as keyof typeof layouts });
        },
        { charactersMax: 32 * 1024 },
      );
    }
  });
});

test("rows without quotes, and the header", async () => {
  const shopify = { format: "shopify" } as const;
  await expectLinear((text) => readFile(`${layouts.vitrine}\n${text}\n`));
  await expectLinear((text) => readFile(`${layouts.shopify}\n${text}\n`, shopify));
  await expectLinear((text) => readFile(`${layouts.vitrine},${text}\n1,2\n`));
  await expectLinear((text) => readFile(`${layouts.shopify},${text}\n1,2\n`, shopify));
});

test("what variants take from their product is read once", async () => {
  const [images, variants] = [5_000, 2_000];
  const list = Array.from({ length: images }, (_, index) => `${index}.jpg`).join(" , ");
  const rows = Array.from({ length: variants }, (_, index) => `,variation,v-${index},,,,1,,p\n`).join("");
  const text = `ID,Type,SKU,Name,Description,Published,Regular price,Images,Parent\n1,variable,p,Mug,"${list}",1,,"${list}",\n${rows}`;
  const map = { images: "Images", title: "Description" };
  await expectWithin(1_500, () => readFile(text, { format: "woocommerce" }));
  await expectWithin(1_500, () => readFile(text, { format: "woocommerce", map }));
});

test("cells of blanks, and short rows below a header that repeats a name", async () => {
  const blank = `"${" ".repeat(1_000_000)}"`;
  const rows = Array.from({ length: 8_000 }, (_, index) => `,variation,,,${index},p\n`).join("");
  const parent = `ID,Type,SKU,Name,Regular price,Parent,Images\n1,variable,p,${blank},,,\n${rows}`;
  await expectWithin(1_500, () => readFile(parent, { format: "woocommerce", map: { title: "Name" } }));
  const names = ",Variant SKU".repeat(80_000);
  const short = Array.from({ length: 40_000 }, (_, index) => `m-${index}\n`).join("");
  await expectWithin(3_000, () => readFile(`Handle,Title,Image Src${names}\n${short}`, { format: "shopify" }));
});

test("files of no layout, whose encoding and delimiter are found", async () => {
  await expectLinear((text) => readFile(text));
  await expectLinear((text) => readFile(text, { delimiter: "\t", encoding: "utf-16le" }));
});

test("csvContent and NDJSON", async () => {
  const prefixes = ["", '"', `${layouts.vitrine}\n`, `${layouts.vitrine}\n"`, `${layouts.vitrine}\n1,"2"`];
  for (const prefix of prefixes) await expectLinear((text) => readAll(readCsv(textPieces(prefix + text, 64 * 1024))));
  for (const prefix of ["", "{", '{"id":"', '{"id":'])
    await expectLinear((text) => readAll(readNdjson(textPieces(prefix + text, 64 * 1024))));
});
