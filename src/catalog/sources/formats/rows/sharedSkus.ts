import type { CsvPiece } from "../../csv/pieces.js";
import type { Draft, Fields, RowReader } from "../layout.js";
import { comparedCharactersMax, copied, eventsOf, type RowSource } from "./row.js";
import { RowFields } from "./rowFields.js";

/** Reads only what decides which rows are products. */
export class KeyFields extends RowFields {
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

  /** Whether products with the SKU of another can be named by something else. */
  get canShareSkus(): boolean {
    const { rows, keyOfTitle = false } = this.layout;
    const isVariant = this.has("handle") && this.options.onePer === "variant";
    const isNamed = rows === "adjacent" ? isVariant : this.has("id") || keyOfTitle;
    return this.has("sku") && isNamed;
  }
}

/** SKUs that several products of a file have, with the lines of two of these. */
export async function findSharedSkus(
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
