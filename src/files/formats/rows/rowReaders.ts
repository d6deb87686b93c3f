import { columnName, type Draft, type Fields, type Layout, namesIn, namesOf, type RowReader } from "../layout.js";
import { lenientParsers, type ProductFinisher } from "../completeProduct.js";
import { google } from "../layouts/google.js";
import { Notes } from "../notes.js";
import type { FormatReadOptions, OpenFile } from "../fileState.js";
import { layouts } from "../recognize.js";
import { AdjacentRows } from "./adjacentRows.js";
import { CsvRows } from "./csvRows.js";
import { FamilyRows } from "./familyRows.js";
import { comparedCharactersMax, copied, eventsOf, type RowSource, sharingRows, type SourceRow } from "./row.js";
import { RowFields } from "./rowFields.js";
import { XmlRows } from "../../xml/xmlRows.js";
import { productFieldNames, type ProductInput } from "../../product/product.fields.js";
import { ParentRows } from "./parentRows.js";
import type { CsvPiece } from "../../csv/csvPieces.js";

export function layoutOf({ found }: Pick<OpenFile, "found">): Layout {
  return found.format === "vitrine" ? vitrine : layouts[found.format];
}

/** Columns that name products, or group rows. */
const keyRoles = ["id", "sku", "secondSku", "handle", "key", "parent"] as const;

/** @param finisher names columns besides those of the layout. @param notes receives unused elements and changed keys */
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
  // Each once, because a header may have a million equal cells.
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
  /** Vitrine's own columns in the file. */
  readonly #columns: readonly (readonly [keyof ProductInput, readonly [string]])[];

  /** @param fillDown rows with the same value in this column take missing values from the first of them */
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

/** Files of no other layout, with mapped columns. Vitrine's own columns have the names of fields. */
const vitrine: Layout = {
  label: "Vitrine",
  file: "CSV in Vitrine's columns, or mapped",
  remark: "",
  columns: { ignored: productFieldNames.map(columnName).join(" | ") },
  marks: [],
  rows: "single",
};

/** Reads only the columns that decide which rows are products. */
class KeyFields extends RowFields {
  override shared(row: Parameters<RowFields["shared"]>[0]): Fields {
    return { title: this.title(row) };
  }

  override images(): string[] {
    return [];
  }

  override price(): unknown {
    return null;
  }

  override available(): null {
    return null;
  }

  /** Whether products with a shared SKU can be named by something else. */
  get canShareSkus(): boolean {
    const { rows, keyOfTitle = false } = this.layout;
    const isVariant = this.has("handle") && this.options.onePer === "variant";
    const isNamed = rows === "adjacent" ? isVariant : this.has("id") || keyOfTitle;
    return this.has("sku") && isNamed;
  }
}

/** SKUs of several products of a file, each with the lines of two of these. */
async function findSharedSkus(
  pieces: AsyncIterable<CsvPiece>,
  source: RowSource,
  { fields, reader }: { readonly fields: KeyFields; readonly reader: RowReader },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const [lines, shared] = [new Map<string, number>(), new Map<string, readonly number[]>()];
  let characters = 0;
  const take = (drafts: Iterable<Draft>): void => {
    for (const { row } of drafts) {
      const sku = copied(fields.text(row, "sku"));
      if (sku === "" || shared.has(sku)) continue;
      const before = lines.get(sku);
      if (before !== undefined) shared.set(sku, [before, row.line]);
      else if (characters <= comparedCharactersMax) {
        lines.set(sku, row.line);
        characters += sku.length + 50;
      }
    }
  };
  for await (const events of eventsOf(pieces, source)) {
    for (const event of events) if ("row" in event) take(reader.take(event.row));
  }
  take(reader.end());
  return shared;
}
