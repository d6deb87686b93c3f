import { productFieldNames } from "../../../product/product.fields.js";
import { columnName, type Layout } from "../layout.js";

/** Files of no other layout, whose columns are mapped. Vitrine's own columns have the names of fields. */
export const vitrine: Layout = {
  label: "Vitrine",
  file: "CSV in Vitrine's columns, or mapped",
  remark: "",
  columns: { ignored: productFieldNames.map(columnName).join(" | ") },
  marks: [],
  rows: "single",
};
