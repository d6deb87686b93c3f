import { clip } from "../../lib/text.js";

const notesMax = 200;
/** For characters that spreadsheets and editors leave behind. */
export const invisibleNote =
  "control and format characters at the ends of its id, its sku or a name of its product are left out.";

/** What an import reports besides problems: each note once for all its rows. */
export class Notes {
  /** Rows that are neither stored nor failed; a note names each. */
  skipped = 0;
  readonly #texts = new Set<string>();
  readonly #counts = new Map<string, { readonly line: number; rows: number }>();
  #more = 0;

  /** @param onCount is called for each note on a row */
  constructor(private readonly onCount: (text: string, line: number) => void = () => undefined) {}

  add(text: string): void {
    if (this.#texts.has(text)) return;
    if (this.#texts.size < notesMax) this.#texts.add(text);
    else this.#more += 1;
  }

  unusedColumn(name: string): void {
    this.add(`Column '${clip(name)}' is not used.`);
  }

  /** @param text follows the number of rows: "products of type grouped are not stored" */
  count(text: string, line: number): void {
    this.onCount(text, line);
    const found = this.#counts.get(text);
    if (found !== undefined) found.rows += 1;
    else if (this.#counts.size < notesMax) this.#counts.set(text, { line, rows: 1 });
  }

  /** Like `count`, for a row that is not stored. */
  skip(text: string, line: number): void {
    this.skipped += 1;
    this.count(text, line);
  }

  get list(): string[] {
    const counted = [...this.#counts].map(([text, { line, rows }]) =>
      rows === 1 ? `1 row, on line ${line}: ${text}` : `${rows} rows, the first on line ${line}: ${text}`,
    );
    const more = this.#more === 0 ? [] : [`… and ${this.#more} more columns are not used.`];
    return [...this.#texts, ...more, ...counted];
  }
}
