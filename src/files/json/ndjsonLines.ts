import { invalidLine } from "../csv/csv.faults.js";
import type { CsvPiece } from "../csv/csvPieces.js";
import { SentDigits } from "../../lib/json/digits.js";
import { notJson } from "../../lib/json/parseJson.js";
import { parseFlatJson } from "../../lib/text.js";
import type { ProductInput } from "../product/product.fields.js";
import { checkProduct, type Place } from "../product/product.input.js";
import { ChunkBuilder } from "../chunk.js";
import { type CsvChunk, type CsvOptions, type CsvResult, previewProducts } from "../csv/csv.js";
import { RowChecks } from "../rowChecks.js";

/** Longer than the longest product. */
const lineCharactersMax = 4 * 1024 * 1024;
const byteOrderMark = "\uFEFF";

type NdjsonOptions = Omit<CsvOptions, "rowsMax" | "delimiter">;

/** Reads a product from each line, otherwise like `readCsv`. Skips blank lines. */
export async function* readNdjson(
  pieces: AsyncIterable<CsvPiece> | Iterable<CsvPiece>,
  options: NdjsonOptions = {},
): AsyncGenerator<CsvChunk, CsvResult> {
  const reader = new NdjsonReader(options);
  for await (const piece of pieces) {
    yield* reader.read(piece);
    if (piece.invalidAs !== undefined) break;
  }
  yield* reader.finish();
  return reader.result;
}

class NdjsonReader {
  readonly #checks: RowChecks;
  readonly #chunk: ChunkBuilder;
  readonly #path: NonNullable<CsvOptions["pathPrefix"]>;
  #rest = "";
  #isDropping = false;
  #hasInvalid = false;
  #line = 0;
  #rows = 0;
  #bytesRead = 0;
  readonly #isPatch: boolean;
  readonly #preview: Partial<ProductInput>[] | undefined;

  constructor(options: NdjsonOptions) {
    const { pathPrefix = [], errorPolicy = "REJECT_ALL", isPatch = false, preview = false } = options;
    this.#isPatch = isPatch;
    this.#preview = preview ? [] : undefined;
    this.#checks = new RowChecks(errorPolicy);
    this.#chunk = new ChunkBuilder(this.#checks, options);
    this.#path = pathPrefix;
  }

  get result(): CsvResult {
    return { rows: this.#rows, ...this.#checks.found, ...(this.#preview && { preview: this.#preview }) };
  }

  *read({ text, bytesRead, invalidAs, hasInvalid }: CsvPiece): Generator<CsvChunk, void> {
    this.#bytesRead = bytesRead;
    this.#hasInvalid ||= hasInvalid === true;
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#take(this.#rest + text.slice(start, end));
      this.#rest = "";
      start = end + 1;
      if (this.#chunk.full) yield this.#takeChunk();
    }
    this.#rest += text.slice(start);
    if (this.#rest.length > lineCharactersMax) this.#isDropping = true;
    if (this.#isDropping) this.#rest = "";
    if (invalidAs === undefined) return;
    this.#rest = "";
    const line = this.#line + 1;
    const message = invalidLine(line, invalidAs);
    this.#checks.problems.add({ code: "MALFORMED", message, path: this.#path, line });
  }

  *finish(): Generator<CsvChunk, void> {
    this.#take(this.#rest);
    if (this.#chunk.rows > 0) yield this.#takeChunk();
  }

  #take(text: string): void {
    this.#line += 1;
    const line = this.#line;
    const json = line === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text;
    const isTooLong = this.#isDropping || json.length > lineCharactersMax;
    this.#isDropping = false;
    if (!isTooLong && json.trim() === "") return;
    this.#rows += 1;
    if (isTooLong) {
      const message = `A line may have at most ${lineCharactersMax} characters.`;
      this.#checks.row.add({ code: "TOO_LONG", message, path: this.#path, line });
    } else if (this.#hasInvalid && !json.isWellFormed()) {
      const message = invalidLine(line, "UTF-8");
      this.#checks.row.add({ code: "MALFORMED", message, path: this.#path, line });
    } else this.#takeProduct(json, line);
    this.#checks.endRow(line);
  }

  #takeProduct(json: string, line: number): void {
    const product = parsed(json);
    if (product === undefined) {
      return this.#checks.row.addLazily(() => {
        const message = `${notJson(json)} A product is one object on one line.`;
        return { code: "MALFORMED", message, path: this.#path, line };
      });
    }
    const digitsOf: Place["digitsOf"] = (name, value) => new SentDigits(() => json).of(name, value);
    const isValid = checkProduct(product, { path: this.#path, line, digitsOf }, this.#checks.row, this.#isPatch);
    if (isValid && this.#preview !== undefined && this.#preview.length < previewProducts) this.#preview.push(product);
    this.#chunk.addSent(product, { line, isValid }, json.length);
  }

  #takeChunk(): CsvChunk {
    return { bytesRead: this.#bytesRead, ...this.#chunk.take() };
  }
}

/** Undefined for text that is not JSON. */
function parsed(json: string): unknown {
  try {
    return parseFlatJson(json);
  } catch {
    return undefined;
  }
}
