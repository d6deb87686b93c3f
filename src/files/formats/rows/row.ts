import type { Notes } from "../notes.js";
import type { CsvPiece } from "../../csv/csvPieces.js";

/** Columns are named by `columnName`. */
export interface SourceRow {
  /** The line on which the row starts, from 1; unique. */
  readonly line: number;
  readonly characters: number;
  /** The first text among these columns; empty if there is none. */
  text(columns: readonly string[]): string;
  texts(column: string): readonly string[];
  /** A row to keep: texts of the original retain the piece of the file that they were read from. */
  copy(): SourceRow;
}

/** `ends` where nothing can be read after it. */
export type RowEvent =
  /** Of XML: where the row is in the text, in UTF-16 code units. */
  | { readonly row: SourceRow; readonly span?: { readonly start: number; readonly end: number } }
  | { readonly message: string; readonly line: number; readonly ends: boolean };

export interface RowSource {
  /** The current line, and that on which its row began. */
  readonly line: number;
  readonly rowLine: number;
  /** Of XML, whether the text read so far ends within a row. */
  readonly isInRow?: boolean;
  /** The rows must be taken before the next call. */
  push(text: string): Iterable<RowEvent> | Promise<Iterable<RowEvent>>;
  end(): Iterable<RowEvent> | Promise<Iterable<RowEvent>>;
}

/** Columns by which products are named, whose texts lose characters at their ends that nobody sees; notes say so. */
export interface KeyReading {
  readonly keys: ReadonlySet<string>;
  readonly notes: Notes;
}

/** What a source finds in a text, as much at a time as a piece has. */
export async function* eventsOf(
  pieces: AsyncIterable<CsvPiece>,
  source: RowSource,
): AsyncGenerator<Iterable<RowEvent>, void> {
  for await (const { text } of pieces) yield await source.push(text);
  yield await source.end();
}

/** The cells of each column, in ascending order; several columns may have one name. */
export type ColumnIndex = ReadonlyMap<string, readonly number[]>;

export class CellRow implements SourceRow {
  /** @param cells trimmed; those that are missing at the end are empty */
  constructor(
    readonly line: number,
    readonly characters: number,
    /** Trimmed. */
    private readonly cells: readonly string[],
    private readonly index: ColumnIndex,
  ) {}

  text(columns: readonly string[]): string {
    for (const column of columns) {
      for (const at of this.index.get(column) ?? []) {
        const text = this.cells[at];
        if (text === undefined) break; // a short row may be below a header that repeats a name many times
        if (text !== "") return text;
      }
    }
    return "";
  }

  texts(column: string): readonly string[] {
    const found: string[] = [];
    for (const at of this.index.get(column) ?? []) {
      const text = this.cells[at];
      if (text === undefined) break;
      if (text !== "") found.push(text);
    }
    return found;
  }

  copy(): SourceRow {
    return new CellRow(this.line, this.characters, copied(this.cells), this.index);
  }
}

export class ElementRow implements SourceRow {
  constructor(
    readonly line: number,
    readonly characters: number,
    private readonly elements: ReadonlyMap<string, readonly string[]>,
  ) {}

  text(columns: readonly string[]): string {
    for (const column of columns) {
      const text = this.elements.get(column)?.find((found) => found !== "");
      if (text !== undefined) return text;
    }
    return "";
  }

  texts(column: string): readonly string[] {
    return (this.elements.get(column) ?? []).filter((text) => text !== "");
  }

  copy(): SourceRow {
    return new ElementRow(this.line, this.characters, new Map(copied([...this.elements])));
  }
}

/** Strings that share no memory with longer ones. */
export function copied<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

export const emptyRow: SourceRow = { line: 0, characters: 0, text: () => "", texts: () => [], copy: () => emptyRow };

/** Beyond, texts are not compared: they would take too much memory. */
export const comparedCharactersMax = 16 * 1024 * 1024;

/**
 * Whether all rows of a file have a text among these columns, and no two of them the same.
 *
 * @returns undefined if so, else the lines of a row without one, or of two with the same
 */
export async function sharingRows(
  pieces: AsyncIterable<CsvPiece>,
  source: RowSource,
  columns: readonly string[],
): Promise<readonly number[] | undefined> {
  const lines = new Map<string, number>();
  let characters = 0;
  for await (const events of eventsOf(pieces, source)) {
    for (const event of events) {
      if (!("row" in event)) continue;
      const { line } = event.row;
      const text = copied(event.row.text(columns));
      characters += text.length + 50;
      const before = lines.get(text);
      if (text === "" || before !== undefined) return before === undefined ? [line] : [before, line];
      if (characters > comparedCharactersMax) return [];
      lines.set(text, line);
    }
  }
  return lines.size > 0 ? undefined : [];
}
