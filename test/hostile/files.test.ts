import { expect, test } from "vitest";
import { readNdjson } from "../../src/files/json/ndjsonLines.js";
import { readCsv } from "../../src/files/csv/csv.js";
import { textPieces } from "../../src/files/csv/csvPieces.js";
import type { FormatReadOptions } from "../../src/files/formats/fileState.js";
import { readCatalog } from "../../src/files/formats/readFile.js";
import { AppError } from "../../src/errors.js";
import { expectLinear, repeated } from "../support/repetitions.js";

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

/** @returns the number of rows */
async function readAll(reader: AsyncIterator<{ readonly rows: number }, { readonly rows: number }>): Promise<number> {
  for (;;) {
    const step = await reader.next();
    if (step.done === true) return step.value.rows;
  }
}

/** What is no text of rows may be refused at once. */
const readFile = (text: string, options: FormatReadOptions = {}) =>
  readAll(
    readCatalog(() => piecesOf(Buffer.from(text)), { urlTemplate: "https://shop.example/{id|sku|handle}", ...options }),
  ).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    return 0;
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

test.each(Object.entries(layouts))(
  "%s: all cells, and each alone, with others as a product has them",
  async (format, header) => {
    const columns = header.split(",");
    const read = (cells: readonly string[]) =>
      readFile(`${header}\n${cells.map(quoted).join(",")}\n`, { format: format as keyof typeof layouts });
    await expectLinear((text) => read(columns.map(() => text.slice(0, (2 * text.length) / columns.length))));
    for (const [target, own] of columns.entries()) {
      const alone = (text: string) => read(columns.map((column) => (column === own ? `x${text}x` : "1")));
      await expectLinear(alone, { characters: 256 * 1024, tries: 1, target });
    }
  },
);

test("rows without quotes, headers, and files whose layout, encoding and delimiter are found", async () => {
  const shopify = { format: "shopify" } as const;
  await expectLinear(async (text) => {
    await readFile(`${layouts.vitrine}\n${text}\n`);
    await readFile(`${layouts.shopify}\n${text}\n`, shopify);
    await readFile(`${layouts.vitrine},${text}\n1,2\n`);
    await readFile(`${layouts.shopify},${text}\n1,2\n`, shopify);
    await readFile(`${layouts.vitrine}\n${layouts.vitrine.replace("images", `"x${text}x"`)}\n`, {
      map: { title: "images" },
    });
    await readFile(text);
    await readFile(text, { delimiter: "\t", encoding: "utf-16le" });
  });
});

// What follows takes minutes where a text of a row is read again for each of the other rows.

test("what variants take from their product is read once", async () => {
  const [images, variants] = [40_000, 5_000];
  const list = Array.from({ length: images }, (_, index) => `${index}.jpg`).join(" , ");
  const rows = Array.from({ length: variants }, (_, index) => `,variation,v-${index},,,,1,,p,1\n`).join("");
  const text = `ID,Type,SKU,Name,Description,Published,Regular price,Images,Parent,In stock?\n1,variable,p,Mug,"${list}",1,,"${list}",,1\n${rows}`;
  expect(await readFile(text, { format: "woocommerce" })).toBe(variants);
  const map = { images: "Images", title: "Description" };
  expect(await readFile(text, { format: "woocommerce", map })).toBe(variants);
});

test("cells of blanks, and short rows below a header that repeats a name", async () => {
  const [variants, columns, short] = [8_000, 150_000, 20_000];
  const rows = Array.from({ length: variants }, (_, index) => `,variation,,,${index},p,,1\n`).join("");
  const parent = `ID,Type,SKU,Name,Regular price,Parent,Images,In stock?\n1,variable,p,"${repeated(" ", 3_000_000)}",,,,1\n${rows}`;
  expect(await readFile(parent, { format: "woocommerce", map: { title: "Name" } })).toBe(variants);
  const ids = Array.from({ length: short }, (_, index) => `${index}\n`).join("");
  const header = `id,title,link,image_link,availability,price${",mpn".repeat(columns)}`;
  expect(await readFile(`${header}\n${ids}`, { format: "google" })).toBe(short);
});

test("csvContent and NDJSON", async () => {
  const prefixes = ["", '"', `${layouts.vitrine}\n`, `${layouts.vitrine}\n"`, `${layouts.vitrine}\n1,"2"`];
  await expectLinear(async (text) => {
    for (const prefix of prefixes) await readAll(readCsv(textPieces(prefix + text, 64 * 1024)));
    for (const prefix of ["", "{", '{"id":"', '{"id":'])
      await readAll(readNdjson(textPieces(prefix + text, 64 * 1024)));
  });
});
