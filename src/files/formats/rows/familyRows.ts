import type { Draft, Fields, Parent, RowReader } from "../layout.js";
import { optionKey, keyWithOptions, titleWithOptions } from "../values/variantKeys.js";
import { kindOf, kindWordOf } from "./rowCommands.js";
import { ParentRows } from "./parentRows.js";
import { emptyRow, type SourceRow } from "./row.js";
import type { RowFields } from "./rowFields.js";

// A spread comes last in its object: V8 of Node.js 20 gives each object with new properties after a spread its own hidden class,
// which takes more memory than the row until the heap is collected.

/**
 * Rows that are products by themselves. Some name their parent, by SKU or as `id:44`, or a parent lists its children by SKU. A row
 * with missing values waits for its parent.
 */
export class FamilyRows implements RowReader {
  readonly #parents: ParentRows;
  /** Whether parents list their children. */
  readonly #hasLists: boolean;

  constructor(private readonly fields: RowFields) {
    this.#parents = new ParentRows(fields.options.notes);
    this.#hasLists = fields.has("configured", "grouped");
  }

  *take(row: SourceRow): Generator<Draft, void> {
    const { notes } = this.fields.options;
    const kind = kindOf(row, this.fields);
    const children = this.#childrenOf(row);
    if (this.fields.text(row, "view") !== "") {
      notes.skip("values of a store view are not used: those of all views are.", row.line);
    } else if (kind === "parent" || children.length > 0) yield* this.#takeParent(row, children);
    else if (kind === "variant" || this.#isUntypedVariation(row)) yield* this.#takeVariation(row);
    else if (kind === "product") yield* this.#takeProduct(row);
    else {
      const type = kindWordOf(row, this.fields) || this.fields.text(row, "kind");
      notes.skip(`products of type ${type} are not stored, because they cannot be put into a cart.`, row.line);
    }
  }

  *end(): Generator<Draft, void> {
    for (const draft of this.#parents.end()) yield this.#finished(draft);
  }

  #isUntypedVariation(row: SourceRow): boolean {
    return this.fields.text(row, "kind") === "" && this.fields.text(row, "parent") !== "";
  }

  *#takeParent(row: SourceRow, children: readonly string[]): Generator<Draft, void> {
    const { fields } = this;
    const { parentNote = "" } = fields.layout;
    const [sku, id] = [fields.text(row, "sku"), fields.text(row, "id")];
    const keys = this.#hasLists ? children : [sku, id && `id:${id}`].filter((key) => key !== "");
    fields.options.notes.skip(parentNote, row.line);
    const parent = { row, fields: { price: fields.price(row), ...fields.shared(row) } };
    for (const draft of this.#parents.remember(keys, parent)) yield this.#finished(draft);
  }

  *#takeVariation(row: SourceRow): Generator<Draft, void> {
    const key = this.fields.text(row, "parent").replace(/^id:\s+/iu, "id:");
    const parent = this.#parents.parentOf(key);
    if (parent !== undefined || key === "") yield this.#variation({ row, fields: {}, parent });
    else for (const draft of this.#parents.wait(key, { row, fields: {} })) yield this.#variation(draft);
  }

  *#takeProduct(row: SourceRow): Generator<Draft, void> {
    const { sharing } = this.fields.options;
    const isSharing = sharing !== undefined && this.fields.text(row, "secondSku") !== "";
    const from = isSharing ? sharing : this.fields.sharedSku(row);
    const draft = { row, fields: this.#productFields(row), ...(from !== undefined && { from }) };
    const sku = this.fields.text(row, "sku");
    const parent = this.#hasLists ? this.#parents.parentOf(sku) : undefined;
    if (parent === undefined && this.#waits(row, draft.fields)) yield* this.#parents.wait(sku, draft);
    else yield { parent, ...draft };
  }

  /** A product that shops do not list by itself may take missing values from its parent. */
  #waits(row: SourceRow, values: Fields): boolean {
    if (!this.#hasLists || !/^(?:not visible.*)?$/iu.test(this.fields.text(row, "visibility"))) return false;
    const lacks = [values.title, values.description, values.featured_image, values.price].some((value) => !value);
    return lacks || (this.fields.has("key") && this.fields.text(row, "key") === "");
  }

  /** A row that has waited. */
  #finished(draft: Draft): Draft {
    return this.#hasLists ? draft : this.#variation(draft);
  }

  #productFields(row: SourceRow): Fields {
    const { fields } = this;
    const second = fields.options.sharing === undefined ? fields.text(row, "secondSku") : "";
    const [id, sku] = [fields.text(row, "id"), this.#ownSku(row)];
    const shared = fields.shared(row);
    const isOne = !sku.includes(",") || fields.layout.keyOfTitle !== true;
    const [ownId, ownSku] = isOne ? [id || sku, second || sku || id] : ["", ""];
    const key = fields.layout.keyOfTitle === true ? optionKey(fields.title(row)) : "";
    return {
      id: ownId || key,
      sku: ownSku || key,
      price: fields.price(row),
      available: fields.available(row),
      ...shared,
    };
  }

  /** Empty if other products have it too, and this one can be named by something else. */
  #ownSku(row: SourceRow): string {
    const { fields } = this;
    const byTitle = fields.layout.keyOfTitle === true;
    if (fields.sharedSku(row) === undefined || !(byTitle || fields.text(row, "id") !== ""))
      return fields.text(row, "sku");
    const made = byTitle ? "its id and sku are made of its title." : "its id is its sku.";
    fields.options.notes.count(`other products have its SKU too, so that ${made}`, row.line);
    return "";
  }

  #variation({ row, parent }: Draft): Draft {
    const { fields } = this;
    const values = fields.optionValues(row);
    const own = {
      price: fields.price(row),
      available: fields.available(row, parent?.row ?? emptyRow),
      ...fields.shared(row),
      ...this.#variationKeys(row, values, parent),
      title: this.#variationTitle(row, values, parent),
    };
    const from = fields.sharedSku(row);
    return { row, parent, fields: own, ...(from !== undefined && { from }) };
  }

  /** A variation without a SKU gets keys from its parent's keys and the values of its attributes. */
  #variationKeys(row: SourceRow, values: readonly string[], parent: Parent | undefined) {
    const { fields } = this;
    const [id, sku] = [fields.text(row, "id"), this.#ownSku(row)];
    if (sku !== "") return { id: id || sku, sku };
    if (fields.text(row, "sku") !== "") return { id, sku: id };
    const family = parent === undefined ? "" : fields.text(parent.row, "sku");
    const key = family !== "" && values.length > 0 ? keyWithOptions(family, values) : id;
    return { id: key, sku: key };
  }

  #variationTitle(row: SourceRow, values: readonly string[], parent: Parent | undefined): string {
    const own = this.fields.title(row);
    const family = typeof parent?.fields.title === "string" ? parent.fields.title : "";
    return own === "" || own === family ? titleWithOptions(family, values) : own;
  }

  /** SKUs that a row lists. */
  #childrenOf(row: SourceRow): string[] {
    const [variations, grouped] = [this.fields.text(row, "configured"), this.fields.text(row, "grouped")];
    const configured = Array.from(variations.matchAll(/(?:^|\|)\s*sku=([^,|]+)/giu), ([, sku = ""]) => sku.trim());
    const joined = grouped.split(/[,\n|]/u).map((entry) => entry.replace(/=[^=]*$/u, "").trim());
    return [...configured, ...joined].filter((sku) => sku !== "");
  }
}
