import type { Path } from "../../errors.js";
import { isUnparsedList, type UnparsedValue } from "../../lib/json/jsonBody.js";
import { SentDigits } from "../../lib/json/digits.js";
import { type ParsedSlice, parsedSlices } from "../../lib/json/elements.js";
import { type FieldName, productFieldNames, productFields } from "../product/product.fields.js";
import { ChunkBuilder } from "../chunk.js";
import type { CsvChunk, CsvOptions, CsvResult } from "../csv/csv.js";
import { checkProduct, type Place } from "../product/product.input.js";
import { RowChecks } from "../rowChecks.js";

const sliceBytes = 64 * 1024;
/** Larger than the largest product. */
const productBytesMax = 4 * 1024 * 1024;

export type ProductsRange = Pick<UnparsedValue, "start" | "end" | "first">;

export interface JsonOptions extends Omit<CsvOptions, "rowsMax"> {
  /** As in GraphQL, a single image is coerced to a list. */
  readonly takesSingles?: boolean;
  /** Called before each slice of the list is read. */
  readonly beginSlice?: () => void;
}

const listFields = productFieldNames.filter((name) => productFields[name].kind === "urls");

/** Makes a list of a single text where a list is expected, as GraphQL does. */
export function withLists(product: unknown): unknown {
  if (typeof product !== "object" || product === null || Array.isArray(product)) return product;
  const sent = product as Partial<Record<FieldName, unknown>>;
  const singles = listFields.filter((name) => typeof sent[name] === "string");
  return singles.length === 0
    ? product
    : { ...product, ...Object.fromEntries(singles.map((name) => [name, [sent[name]]])) };
}

/** The place of the current row. A path is made only for a problem. */
class RowPlace implements Place {
  index = 0;
  digits: SentDigits | undefined;
  readonly digitsOf = (name: string, value: number) => this.digits?.of(name, value);

  constructor(
    private readonly prefix: Path,
    private readonly isList: boolean,
  ) {}

  get path(): Path {
    return this.isList ? this.prefix.concat(this.index) : this.prefix;
  }
}

/**
 * Reads the JSON of a list or a single product, otherwise like `readCsv`.
 *
 * @param options.pathPrefix of the list or the product
 * @throws {AppError} BAD_REQUEST for invalid JSON
 */
export function* readProductsJson(
  bytes: Buffer,
  json: ProductsRange,
  options: JsonOptions = {},
): Generator<CsvChunk, CsvResult> {
  const { start, end } = json;
  const isList = isUnparsedList(json);
  const [first, last] = isList ? [start + 1, end - 1] : [start, end];
  const rows = new ProductRows(isList, options);
  let from = first;
  for (const slice of parsedSlices(bytes, first, last, { sliceBytes, elementBytesMax: productBytesMax })) {
    yield* rows.take(slice, bytes.subarray(from, from + slice.bytes));
    from += slice.bytes + 1; // a comma follows
  }
  return yield* rows.end();
}

class ProductRows {
  readonly #place: RowPlace;
  readonly #checks: RowChecks;
  readonly #chunk: ChunkBuilder;

  constructor(
    isList: boolean,
    private readonly options: JsonOptions,
  ) {
    const { pathPrefix = [], errorPolicy = "REJECT_ALL" } = options;
    this.#place = new RowPlace(pathPrefix, isList);
    this.#checks = new RowChecks(errorPolicy);
    this.#chunk = new ChunkBuilder(this.#checks, options);
  }

  *take({ elements: products, bytes: length }: ParsedSlice, slice: Buffer): Generator<CsvChunk, void> {
    this.#place.digits = new SentDigits(() => slice.toString("latin1"));
    if (products === undefined) {
      this.#refuseTooLong();
      return;
    }
    this.options.beginSlice?.();
    const charactersEach = length / Math.max(1, products.length);
    for (const sent of products) {
      this.#add(sent, charactersEach);
      if (this.#chunk.full) yield this.#taken();
    }
  }

  *end(): Generator<CsvChunk, CsvResult> {
    if (this.#chunk.rows > 0) yield this.#taken();
    return { rows: this.#place.index, ...this.#checks.found };
  }

  #add(sent: unknown, characters: number): void {
    const { takesSingles = false, isPatch = false } = this.options;
    const product = takesSingles ? withLists(sent) : sent;
    const isValid = checkProduct(product, this.#place, this.#checks.row, isPatch);
    this.#chunk.addSent(product, { line: this.#place.index, isValid }, characters);
    this.#endRow();
  }

  #refuseTooLong(): void {
    const message = `A product may have at most ${productBytesMax} bytes.`;
    this.#checks.row.add({ code: "TOO_LONG", message, path: this.#place.path });
    this.#endRow();
  }

  #endRow(): void {
    this.#checks.endRow(this.#place.index);
    this.#place.index += 1;
  }

  #taken(): CsvChunk {
    return { bytesRead: 0, ...this.#chunk.take() };
  }
}
