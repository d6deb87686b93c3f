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
  /** A row to keep. Texts of the original keep the whole piece of the file in memory. */
  copy(): SourceRow;
}

/** `ends` if nothing can be read after it. */
export type RowEvent =
  /** In XML: the row's place in the text, in UTF-16 code units. */
  | { readonly row: SourceRow; readonly span?: { readonly start: number; readonly end: number } }
  | { readonly message: string; readonly line: number; readonly ends: boolean };

export interface RowSource {
  /** The current line, and the one on which its row began. */
  readonly line: number;
  readonly rowLine: number;
  /** In XML, whether the text read so far ends within a row. */
  readonly isInRow?: boolean;
  /** The rows must be taken before the next call. */
  push(text: string): Iterable<RowEvent> | Promise<Iterable<RowEvent>>;
  end(): Iterable<RowEvent> | Promise<Iterable<RowEvent>>;
}

/** Columns that name products. Invisible characters at the ends of their texts are removed, and noted. */
export interface KeyReading {
  readonly keys: ReadonlySet<string>;
  readonly notes: Notes;
}

/** The events of a source, piece by piece. */
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
        if (text === undefined) break; // the header may repeat a name far more often than this row has cells
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

/** Copies strings, so that they share no memory with longer ones. */
export function copied<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

export const emptyRow: SourceRow = { line: 0, characters: 0, text: () => "", texts: () => [], copy: () => emptyRow };

/** More texts are not compared, because they would take too much memory. */
export const comparedCharactersMax = 16 * 1024 * 1024;

/**
 * Whether every row of a file has its own text among these columns.
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
