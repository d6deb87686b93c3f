import { clip } from "../../lib/text.js";
import { type CsvChunk, type CsvResult, readCsv } from "../csv/csv.js";
import { columnsUsed } from "./columnsUsed.js";
import { ProductFinisher } from "./completeProduct.js";
import { columnName, type Layout, type Role, roleOf } from "./layout.js";
import { onePerProductMessage, reportMissing } from "./missingColumnHints.js";
import { Notes } from "./notes.js";
import { type FormatReadOptions, openFile, type OpenFile } from "./fileState.js";
import { FormatReader } from "./formatReader.js";
import { layoutOf, rowReader, rowSource } from "./rows/rowReaders.js";

/**
 * Reads a file of Vitrine or of another system in constant memory. The result has its format, and notes on what is not stored.
 * Otherwise like `readCsv`.
 *
 * @throws {AppError} BAD_REQUEST for a template that makes no URLs, and for files that are not rows of text
 */
export async function* readCatalog(
  open: () => AsyncIterable<Buffer>,
  options: FormatReadOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  const file = await openFile(open, options);
  try {
    const notes = new Notes();
    if (file.encoding !== "UTF-8") notes.add(`The file was read as ${file.encoding}.`);
    const { format } = file.found;
    if (file.isOwn) {
      const result = yield* readCsv(file.pieces, options);
      return { ...result, format: "vitrine", notes: [...notes.list, ...(result.notes ?? [])] };
    }
    return { ...(yield* (await readerOf(file, notes, options)).readAll(file.pieces)), format };
  } finally {
    await file.close();
  }
}

const noPatchMessage = "The mode PATCH reads files of other systems only with mapped columns.";

async function readerOf(file: OpenFile, notes: Notes, options: FormatReadOptions): Promise<FormatReader> {
  const { isXml, found } = file;
  const layout = layoutOf(file);
  const [once, twice] = isXml ? [[], []] : columnNames(found.header);
  const header = [...once, ...twice];
  const finisher = new ProductFinisher(options, header);
  const rows = await rowReader(file, () => rowSource(file, finisher, new Notes()), { notes, options });
  const source = rowSource(file, finisher, notes);
  const columns = isXml || options.preview !== true ? undefined : columnsUsed(file, options);
  const reader = new FormatReader({ source, rows, finisher, notes, columns }, options);
  if (options.isPatch === true && found.format !== "vitrine") reader.refuse(noPatchMessage);
  else if (isXml) refuseForXml(reader, options);
  else {
    if (reportMissing(reader, { layout, finisher, header, options })) return reader;
    for (const name of unusedColumns(file, finisher, options)) notes.unusedColumn(name);
    for (const name of repeatedColumns(layout, twice)) {
      notes.add(`There are several columns '${clip(name)}': the first that is not empty counts.`);
    }
  }
  return reader;
}

function unusedColumns(file: OpenFile, { columns }: ProductFinisher, { fillDown = "" }: FormatReadOptions): string[] {
  const layout = layoutOf(file);
  return file.found.header
    .map((cell) => cell.trim())
    .filter((cell) => {
      const name = columnName(cell);
      return name !== "" && roleOf(layout, name) === undefined && !columns.has(name) && name !== columnName(fillDown);
    });
}

/** The names of all columns, and the repeated ones. Each once, because a header may repeat one a million times. */
function columnNames(header: readonly string[]): readonly [once: readonly string[], twice: readonly string[]] {
  const [once, twice] = [new Set<string>(), new Set<string>()];
  for (const name of header.map(columnName)) (once.has(name) ? twice : once).add(name);
  return [[...once], [...twice]];
}

/** Roles that may have several columns. */
const severalOf: ReadonlySet<Role | undefined> = new Set<Role>(["image", "moreImages", "option", "ignored"]);

/** Repeated columns of a layout that may have only one value. */
function repeatedColumns(layout: Layout, names: readonly string[]): string[] {
  return names.filter((name) => {
    const role = roleOf(layout, name);
    return role !== undefined && !severalOf.has(role);
  });
}

function refuseForXml(reader: FormatReader, { format = "auto", onePer = "variant" }: FormatReadOptions): void {
  if (format !== "auto" && format !== "google") reader.refuse("XML is read as a Google feed (RSS or Atom) only.");
  if (onePer === "product") reader.refuse(onePerProductMessage);
}
