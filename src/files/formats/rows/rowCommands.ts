import { clip } from "../../../lib/text.js";
import type { Kind } from "../layout.js";
import type { SourceRow } from "./row.js";
import type { RowFields } from "./rowFields.js";

/** The word that names a row's kind; empty for any other. */
export function kindWordOf(row: SourceRow, fields: RowFields): string {
  const text = fields.text(row, "kind").toLowerCase();
  return Object.keys(fields.layout.kinds ?? {}).find((word) => word !== "" && text.includes(word)) ?? "";
}

/** Undefined if the layout has kinds, but not this one. */
export function kindOf(row: SourceRow, fields: RowFields): Kind | undefined {
  if (!fields.has("kind")) return "product";
  return fields.layout.kinds?.[kindWordOf(row, fields)];
}

const stored = new Set(["", "new", "merge", "update", "replace"]);

/** Whether Matrixify's command forbids storing the row, which is noted; or why the command cannot be read. */
export function commandOf(row: SourceRow, fields: RowFields, product: SourceRow): "store" | "skip" | { fault: string } {
  const ofProduct = fields.text(row, "command") || fields.text(product, "command");
  for (const command of [ofProduct, fields.text(row, "variantCommand")]) {
    const word = command.toLowerCase();
    if (word === "delete") {
      const reason =
        "not stored: its command is DELETE. The mode REPLACE deletes what a file does not store; no other mode does.";
      fields.options.notes.skip(reason, row.line);
    } else if (word === "ignore") fields.options.notes.skip("not stored: its command is IGNORE.", row.line);
    else if (stored.has(word)) continue;
    else return { fault: `The command ${JSON.stringify(clip(command))} is not known.` };
    return "skip";
  }
  return "store";
}
