import { Problems } from "../../errors.js";
import type { ProductInput } from "../product/product.fields.js";
import { checkProduct } from "../product/product.input.js";
import { cellParsers } from "../csv/csv.columns.js";
import { fieldsOfRoles, useOf } from "./columnsUsed.js";
import { type Candidate, columnsOfFields, ProductFinisher } from "./completeProduct.js";
import { columnName, type Draft, namesIn, roleOf } from "./layout.js";
import { Notes } from "./notes.js";
import { type FormatReadOptions, openFile, type OpenFile } from "./fileState.js";
import { eventsOf, type RowEvent, type RowSource, type SourceRow } from "./rows/row.js";
import { layoutOf, rowReader, rowSource } from "./rows/rowReaders.js";

interface ExplainedCell {
  readonly column: string;
  readonly cell: string;
  /** What the column is used for. */
  readonly use: string | undefined;
  /** The field of the product that it decides, with its value. */
  readonly field: string | undefined;
  readonly became: unknown;
}

export interface RowExplanation {
  /** The line on which the row starts. */
  readonly line: number;
  readonly format: string;
  readonly cells: readonly ExplainedCell[];
  /** The product as it would be stored if it is valid. */
  readonly product: Candidate | undefined;
  readonly problems: readonly string[];
  /** Why it was read like this, or is not stored. */
  readonly notes: readonly string[];
  /** Lines of other rows that it takes values from. */
  readonly from: readonly number[];
}

/**
 * Explains the row on a line of a file: each cell, what it became, and why.
 *
 * @returns undefined if there is no row
 * @throws {AppError} as `readCatalog`
 */
export async function explainRow(
  open: () => AsyncIterable<Buffer>,
  line: number,
  options: FormatReadOptions,
): Promise<RowExplanation | undefined> {
  const file = await openFile(open, options);
  try {
    const header = file.isXml ? [] : file.found.header.map(columnName);
    const finisher = new ProductFinisher(options, header);
    const newSource = () => rowSource(file, finisher, new Notes());
    const found = await rowOn(line, file.reread(), newSource());
    if (found === undefined) return undefined;
    if ("message" in found) return explanation(file, found.line, { problems: [found.message] });
    const { row } = found;
    const texts: string[] = [];
    const notes = new Notes((text, at) => void (at === row.line && texts.push(text)));
    const rows = await rowReader(file, newSource, { notes, options });
    const draft = await draftOf(row.line, file.pieces, { source: newSource(), rows });
    const candidate = file.isOwn ? ownProduct(row) : draft && productOf(finisher, draft, options);
    const problems = new Problems();
    const isValid = candidate !== undefined && checkProduct(candidate, { path: [] }, problems, options.isPatch);
    const messages = problems.list.map(({ message }) => message);
    if (draft?.fault !== undefined) messages.push(draft.fault);
    return {
      ...explanation(file, row.line, { problems: messages, notes: texts }),
      cells: cellsOfRow(file, row, { candidate, options }),
      product: isValid ? candidate : undefined,
      from: draft === undefined ? [] : otherLinesOf(draft),
    };
  } finally {
    await file.close();
  }
}

/** The lines of other rows that a product takes values from. */
function otherLinesOf({ row, from = [], parent }: Draft): number[] {
  const lines = new Set([...from, ...(parent === undefined ? [] : [parent.row.line])]);
  return [...lines].filter((line) => line !== row.line && line > 0).toSorted((a, b) => a - b);
}

function explanation(
  { found }: OpenFile,
  line: number,
  { problems, notes = [] }: { readonly problems: readonly string[]; readonly notes?: readonly string[] },
): RowExplanation {
  return { line, format: found.format, cells: [], product: undefined, problems, notes, from: [] };
}

/** The last row that begins on this line or before it. */
async function rowOn(line: number, pieces: OpenFile["pieces"], source: RowSource): Promise<RowEvent | undefined> {
  let last: RowEvent | undefined;
  for await (const events of eventsOf(pieces, source)) {
    for (const event of events) {
      if (("row" in event ? event.row.line : event.line) > line) return last;
      last = event;
    }
  }
  return last;
}

async function draftOf(
  line: number,
  pieces: OpenFile["pieces"],
  { source, rows }: { readonly source: RowSource; readonly rows: Awaited<ReturnType<typeof rowReader>> },
): Promise<Draft | undefined> {
  let found: Draft | undefined;
  const look = (drafts: Iterable<Draft>): void => {
    for (const draft of drafts) if (draft.row.line === line) found = draft;
  };
  for await (const events of eventsOf(pieces, source)) {
    for (const event of events) if ("row" in event) look(rows.take(event.row));
  }
  look(rows.end());
  return found;
}

function ownProduct(row: SourceRow): Candidate {
  const names = Object.keys(cellParsers) as (keyof ProductInput)[];
  return Object.fromEntries(names.map((name) => [name, cellParsers[name](row.text([columnName(name)]))]));
}

function productOf(finisher: ProductFinisher, draft: Draft, { isPatch }: FormatReadOptions): Candidate {
  return isPatch === true ? finisher.finishPatch(draft) : finisher.finish(draft);
}

function cellsOfRow(
  file: OpenFile,
  row: SourceRow,
  { candidate, options }: { readonly candidate: Candidate | undefined; readonly options: FormatReadOptions },
): readonly ExplainedCell[] {
  const layout = layoutOf(file);
  const mapped = columnsOfFields(options.map);
  const columns = file.isXml
    ? Object.values(layout.columns).flatMap(namesIn)
    : file.found.header.map((cell) => cell.trim());
  return columns
    .map((column) => {
      const name = columnName(column);
      const role = roleOf(layout, name);
      const ofMap = [...mapped].find(([, names]) => names.includes(name))?.[0];
      const use = useOf(column, { file, ...options });
      const field =
        ofMap ??
        (role === undefined ? undefined : fieldsOfRoles[role]) ??
        (use !== undefined && use in cellParsers ? use : undefined);
      const became = field === undefined ? undefined : candidate?.[field as keyof ProductInput];
      return { column, cell: row.texts(name).join(" | "), use, field, became };
    })
    .filter(({ cell, column }) => column !== "" && (cell !== "" || !file.isXml));
}
