import { columnName, type Layout, namesIn, namesOf, type RowReader } from "../layout.js";
import { google } from "../layouts/google.js";
import { vitrine } from "../layouts/vitrine.js";
import { Notes } from "../notes.js";
import type { FormatReadOptions, OpenFile } from "../opened.js";
import { layouts } from "../recognize.js";
import { AdjacentRows } from "./adjacentRows.js";
import { CsvRows } from "./csvRows.js";
import { FamilyRows } from "./familyRows.js";
import { MappedRows } from "./mappedRows.js";
import { sharingRows, type RowSource } from "./row.js";
import { RowFields } from "./rowFields.js";
import { findSharedSkus, KeyFields } from "./sharedSkus.js";
import { XmlRows } from "./xmlRows.js";

export function layoutOf({ found }: Pick<OpenFile, "found">): Layout {
  return found.format === "vitrine" ? vitrine : layouts[found.format];
}

/** @param used names of columns besides those of the layout; @param notes of elements that are not used */
export function rowSource(file: OpenFile, used: ReadonlySet<string>, notes: Notes): RowSource {
  const { isXml, found } = file;
  if (!isXml) return new CsvRows(found.header, found.delimiter, layoutOf(file).escapesFormulas);
  return new XmlRows(new Set([...Object.values(google.columns).flatMap(namesIn), ...used]), notes);
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
  const { fillDown, onePer = "variant" } = options;
  if (layout === vitrine)
    return new MappedRows(fillDown === undefined ? undefined : columnName(fillDown), columns ?? [], notes);
  const seconds = namesOf(layout, "secondSku", columns);
  const sharing = seconds.length === 0 ? [] : await sharingRows(file.reread(), source(), seconds);
  const common = { columns, onePer, notes, now: Date.now(), sharing, sharedSkus: new Map<string, readonly number[]>() };
  const readerOf = (fields: RowFields): RowReader =>
    layout.rows === "adjacent" ? new AdjacentRows(fields) : new FamilyRows(fields);
  const keys = new KeyFields(layout, { ...common, notes: new Notes() });
  if (!keys.canShareSkus) return readerOf(new RowFields(layout, common));
  const sharedSkus = await findSharedSkus(file.reread(), source(), { fields: keys, reader: readerOf(keys) });
  return readerOf(new RowFields(layout, { ...common, sharedSkus }));
}
