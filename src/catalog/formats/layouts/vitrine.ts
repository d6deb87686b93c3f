import { productFieldNames } from "../../product.input.js";
import { lenientParsers } from "../finish.js";
import type { Layout } from "../layout.js";
import type { SourceRow } from "../row.js";

/** Files of any other layout: Vitrine's own columns and those that are mapped. */
export const vitrine: Layout = {
  name: "Vitrine",
  reads: new Set(productFieldNames),
  needs: {
    id: ["id"],
    sku: ["sku"],
    title: ["title"],
    available: ["available"],
    featured_image: ["featured_image", "images"],
    url: ["url"],
  },
  isIn: () => false,
  createReader: () => ({
    *take(row: SourceRow) {
      yield { row, fields: fieldsOf(row) };
    },
    end: () => [],
  }),
};

function fieldsOf(row: SourceRow) {
  return Object.fromEntries(productFieldNames.map((name) => [name, valueOf(name, row.text([name]))]));
}

function valueOf(name: (typeof productFieldNames)[number], text: string): unknown {
  return text === "" ? null : lenientParsers[name](text);
}
