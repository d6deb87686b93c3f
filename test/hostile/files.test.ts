import { describe, test } from "vitest";
import { readNdjson } from "../../src/catalog/reading/ndjson.js";
import { readCsv } from "../../src/catalog/reading/csv.js";
import { textPieces } from "../../src/catalog/csv/pieces.js";
import { type FormatReadOptions, readCatalog } from "../../src/catalog/formats/read.js";
import { LineSplitter } from "../../src/analytics/events/ndjson.js";
import { expectLinear } from "../support/repetitions.js";

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

async function readAll(reader: AsyncIterator<unknown>): Promise<void> {
  for (let step = await reader.next(); step.done !== true; step = await reader.next());
}

const readFile = (text: string, options: FormatReadOptions = {}) =>
  readAll(readCatalog(piecesOf(Buffer.from(text)), { urlTemplate: "https://shop.example/{id|sku|handle}", ...options }));

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
          const row = [...Array.from({ length: before }, () => "1"), quoted(cell), ...Array.from({ length: after }, () => "1")];
          return readFile(`${header}\n${row.join(",")}\n`, { format: format as keyof typeof layouts });
        },
        { charactersMax: 64 * 1024 },
      );
    }
  });

  test("rows without quotes, and the header", async () => {
    await expectLinear((text) => readFile(`${header}\n${text}\n`, { format: format as keyof typeof layouts }));
    await expectLinear((text) => readFile(`${header},${text}\n1,2\n`, { format: format as keyof typeof layouts }));
  });
});

test("files of no layout, whose encoding and delimiter are found", async () => {
  await expectLinear((text) => readFile(text));
  await expectLinear((text) => readFile(text, { delimiter: "\t", encoding: "utf-16le" }));
  await expectLinear((text) => readFile(`${layouts.shopify}\n${text}`));
});

test("csvContent and NDJSON", async () => {
  const prefixes = ["", '"', `${layouts.vitrine}\n`, `${layouts.vitrine}\n"`, `${layouts.vitrine}\n1,"2"`];
  for (const prefix of prefixes) await expectLinear((text) => readAll(readCsv(textPieces(prefix + text, 64 * 1024))));
  for (const prefix of ["", "{", '{"id":"', '{"id":'])
    await expectLinear((text) => readAll(readNdjson(textPieces(prefix + text, 64 * 1024))));
});
