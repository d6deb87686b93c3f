import { columnName, type Draft, type Fields, type Layout, namesIn, namesOf, type RowReader } from "../layout.js";
import type { ProductFinisher } from "../finish.js";
import { google } from "../layouts/google.js";
import { Notes } from "../notes.js";
import type { FormatReadOptions, OpenFile } from "../opened.js";
import { layouts } from "../recognize.js";
import { AdjacentRows } from "./adjacentRows.js";
import { CsvRows } from "./csvRows.js";
import { FamilyRows } from "./familyRows.js";
import { type RowSource, sharingRows, type SourceRow } from "./row.js";
import { RowFields } from "./rowFields.js";
import { findSharedSkus, KeyFields } from "./sharedSkus.js";
import { XmlRows } from "./xmlRows.js";
import { productFieldNames, type ProductInput } from "../../../product/product.fields.js";
import { lenientParsers } from "../finish.js";
import { ParentRows } from "./parentRows.js";

export function layoutOf({ found }: Pick<OpenFile, "found">): Layout {
  return found.format === "vitrine" ? vitrine : layouts[found.format];
}

/** Columns by which products are named, or rows belong together. */
const keyRoles = ["id", "sku", "secondSku", "handle", "key", "parent"] as const;

/** @param finisher names columns besides those of the layout; @param notes of elements that are not used, and of changed keys */
export function rowSource(
  file: OpenFile,
  finisher: Pick<ProductFinisher, "columns" | "keyColumns">,
  notes: Notes,
): RowSource {
  const { isXml, found } = file;
  const layout = layoutOf(file);
  const header = isXml ? undefined : found.header.map(columnName);
  const keys = new Set([...keyRoles.flatMap((role) => namesOf(layout, role, header)), ...finisher.keyColumns]);
  if (!isXml) return new CsvRows(found, { keys, notes, escapesFormulas: layout.escapesFormulas });
  const names = Object.values(google.columns).flatMap(namesIn);
  return new XmlRows(new Set([...names, ...finisher.columns]), { keys, notes });
}

/** Makes products of the rows. */
export async function rowReader(
  file: OpenFile,
  source: () => RowSource,
  { notes, options }: { readonly notes: Notes; readonly options: FormatReadOptions },
): Promise<RowReader> {
  const layout = layoutOf(file);
  // Each once: a header may have a million equal cells.
  const columns = file.isXml ? undefined : [...new Set(file.found.header.map(columnName))];
  const { fillDown, onePer = "variant", timeZone = "UTC", decimals = 2 } = options;
  if (layout === vitrine)
    return new MappedRows(fillDown === undefined ? undefined : columnName(fillDown), columns ?? [], notes);
  const seconds = namesOf(layout, "secondSku", columns);
  const sharing = seconds.length === 0 ? [] : await sharingRows(file.reread(), source(), seconds);
  const store = { now: Date.now(), timeZone, decimals };
  const common = { columns, onePer, notes, ...store, sharing, sharedSkus: new Map<string, readonly number[]>() };
  const readerOf = (fields: RowFields): RowReader =>
    layout.rows === "adjacent" ? new AdjacentRows(fields) : new FamilyRows(fields);
  const keys = new KeyFields(layout, { ...common, notes: new Notes() });
  if (!keys.canShareSkus) return readerOf(new RowFields(layout, common));
  const sharedSkus = await findSharedSkus(file.reread(), source(), { fields: keys, reader: readerOf(keys) });
  return readerOf(new RowFields(layout, { ...common, sharedSkus }));
}

/** Vitrine's own columns and mapped ones: each row is a product. */
class MappedRows implements RowReader {
  readonly #firsts: ParentRows;
  /** Vitrine's own, of those in the file. */
  readonly #columns: readonly (readonly [keyof ProductInput, readonly [string]])[];

  /** @param fillDown the column whose rows, where they share its value, take what they lack from the first of them */
  constructor(
    private readonly fillDown: string | undefined,
    header: readonly string[],
    notes: Notes,
  ) {
    const own = productFieldNames.filter((name) => header.includes(columnName(name)));
    this.#columns = own.map((name) => [name, [columnName(name)]]);
    this.#firsts = new ParentRows(notes);
  }

  take(row: SourceRow): readonly Draft[] {
    const fields = this.#fieldsOf(row);
    const key = this.fillDown === undefined ? "" : row.text([this.fillDown]);
    const first = key === "" ? undefined : this.#firsts.parentOf(key);
    if (key !== "" && first === undefined) this.#firsts.remember([key], { row, fields });
    return [{ row, fields, parent: first }];
  }

  end(): readonly Draft[] {
    return [];
  }

  #fieldsOf(row: SourceRow): Fields {
    const fields: Partial<Record<keyof ProductInput, unknown>> = {};
    for (const [name, names] of this.#columns) {
      const text = row.text(names);
      fields[name] = text === "" ? null : lenientParsers[name](text);
    }
    return fields;
  }
}

/** Files of no other layout, whose columns are mapped. Vitrine's own columns have the names of fields. */
const vitrine: Layout = {
  label: "Vitrine",
  file: "CSV in Vitrine's columns, or mapped",
  remark: "",
  columns: { ignored: productFieldNames.map(columnName).join(" | ") },
  marks: [],
  rows: "single",
};
