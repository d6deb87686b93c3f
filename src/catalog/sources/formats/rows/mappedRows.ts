import { type ProductInput, productFieldNames } from "../../../product/product.fields.js";
import { lenientParsers } from "../finish.js";
import { columnName, type Draft, type Fields, type RowReader } from "../layout.js";
import type { Notes } from "../notes.js";
import { ParentRows } from "./parentRows.js";
import type { SourceRow } from "./row.js";

/** Vitrine's own columns and mapped ones: each row is a product. */
export class MappedRows implements RowReader {
  readonly #firsts: ParentRows;
  /** Vitrine's own, of those in the file. */
  readonly #columns: readonly (readonly [keyof ProductInput, readonly [string]])[];

  /** @param fillDown the column whose rows, where they share its value, take what they lack from the first of them */
  constructor(
    private readonly fillDown: string | undefined,
    header: readonly string[],
    notes: Notes,
  ) {
    const own = productFieldNames.filter((name) => header.includes(columnName(name)));
    this.#columns = own.map((name) => [name, [columnName(name)]]);
    this.#firsts = new ParentRows(notes);
  }

  take(row: SourceRow): readonly Draft[] {
    const fields = this.#fieldsOf(row);
    const key = this.fillDown === undefined ? "" : row.text([this.fillDown]);
    const first = key === "" ? undefined : this.#firsts.parentOf(key);
    if (key !== "" && first === undefined) this.#firsts.remember([key], { row, fields });
    return [{ row, fields, parent: first }];
  }

  end(): readonly Draft[] {
    return [];
  }

  #fieldsOf(row: SourceRow): Fields {
    const fields: Partial<Record<keyof ProductInput, unknown>> = {};
    for (const [name, names] of this.#columns) {
      const text = row.text(names);
      fields[name] = text === "" ? null : lenientParsers[name](text);
    }
    return fields;
  }
}
