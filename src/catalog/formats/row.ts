/** Columns are named in lower case. */
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
  | { readonly row: SourceRow }
  | { readonly message: string; readonly line: number; readonly ends: boolean };

export interface RowSource {
  /** The current line, and that on which its row began. */
  readonly line: number;
  readonly rowLine: number;
  push(text: string): RowEvent[];
  end(): RowEvent[];
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
