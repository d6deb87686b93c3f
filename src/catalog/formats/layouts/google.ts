import type { Fields, Layout, RowReaderOptions } from "../layout.js";
import type { SourceRow } from "../row.js";
import { isWithin, parseFlag, splitUrls } from "../values/cells.js";
import { plainText } from "../values/html.js";
import { parsePrice } from "../values/prices.js";

const columns = {
  id: ["id"],
  mpn: ["mpn"],
  title: ["title", "structured_title"],
  description: ["description", "summary", "content"],
  link: ["link"],
  image: ["image_link"],
  moreImages: ["additional_image_link"],
  price: ["price"],
  salePrice: ["sale_price"],
  saleDates: ["sale_price_effective_date"],
  availability: ["availability"],
} as const;

/** A product feed for Google's Merchant Center, also read by others: each row is a product. */
export const google: Layout = {
  name: "Google",
  reads: new Set(Object.values(columns).flat()),
  needs: { title: columns.title, featured_image: columns.image, url: columns.link },
  nameOf: (column) =>
    column
      .trim()
      .toLowerCase()
      .replace(/^g:/u, "")
      .replaceAll(/[\s-]+/gu, "_"),
  isIn: (names) =>
    ["id", "title"].every((name) => names.has(name)) && ["link", "image_link"].some((name) => names.has(name)),
  createReader: ({ now }: RowReaderOptions) => ({
    *take(row: SourceRow) {
      yield { row, fields: fieldsOf(row, now) };
    },
    end: () => [],
  }),
};

function fieldsOf(row: SourceRow, now: number): Fields {
  const id = row.text(columns.id);
  const image = row.text(columns.image);
  const more = columns.moreImages.flatMap((name) => row.texts(name)).flatMap((text) => splitUrls(text));
  return {
    id,
    sku: row.text(columns.mpn) || id,
    title: plainText(row.text(columns.title)),
    description: plainText(row.text(columns.description)) || null,
    price: parsePrice(priceText(row, now)),
    available: parseFlag(row.text(columns.availability)) ?? true,
    images: [...new Set([...(image === "" ? [] : [image]), ...more])],
    featured_image: image,
    url: row.text(columns.link),
  };
}

function priceText(row: SourceRow, now: number): string {
  const sale = row.text(columns.salePrice);
  const [from = "", to = ""] = row.text(columns.saleDates).split("/");
  return sale !== "" && isWithin(now, from, to) ? sale : row.text(columns.price);
}
