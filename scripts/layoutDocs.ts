import { type Layout, namesIn, type Role } from "../src/files/formats/layout.js";
import { roleMeanings } from "../src/files/formats/columnsUsed.js";
import { layouts } from "../src/files/formats/recognize.js";
import { table } from "./markdownTable.js";

const namesCharactersMax = 117;
const saleDates = ["saleStart", "saleEnd", "saleDates"] as const;
/** The lines of a system, each with what its columns decide. */
const groups: Readonly<Record<string, readonly Role[]>> = {
  Rows: ["handle", "kind", "view", "command", "variantCommand", "parent", "configured", "grouped", "visibility"],
  Product: ["id", "sku", "secondSku", "key", "title", "option", "description", "url"],
  Price: ["price", "surcharge", "salePrice", "onSale", ...saleDates, "discountMode", "discount", "discountPercent"],
  Availability: ["published", "inStock", "stock", "tracker", "policy"],
  Images: ["image", "moreImages", "variantImage", "position"],
};

/** The page with a table of files and a section for each layout between their marks. @throws {Error} for a role of no group */
export function withLayouts(page: string): string {
  const sections = Object.entries(layouts).map(sectionOf).join("\n\n");
  return between(between(page, "files", filesTable()), "layouts", sections);
}

/** @throws {Error} for a page without these marks */
function between(page: string, mark: string, text: string): string {
  const parts = page.split(new RegExp(`(<!-- /?${mark} -->)`, "u"));
  const [before, begin, , end, after] = parts;
  if (parts.length !== 5) throw new Error(`The page has no place for ${mark}.`);
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

/** By which columns a reader recognizes a file, and which option it needs. */
function filesTable(): string {
  const own = ["[Vitrine](catalog.md#csv)", "CSV", "`id`, `sku`, `title`, `available`", ""];
  const any = ["another system", "CSV", "any", "[`--map`](#column-mapping)"];
  const rows = Object.values(layouts).map((layout) => {
    const { label, file, marks, columns } = layout;
    const names = marks.map((mark) => {
      const [name = ""] = namesIn(mark);
      return name.startsWith("@") ? (namesIn(columns[name.slice(1) as Role] ?? "")[0] ?? name) : name;
    });
    const [kind = ""] = file.split(/:|, in /u);
    return [
      `[${label}](#${label.toLowerCase()})`,
      kind,
      names.map((name) => `\`${name}\``).join(", "),
      columns.url === undefined ? "`--url-template`" : "",
    ];
  });
  return table(["File of", "Kind", "Has columns such as", "Needs"], [own, ...rows.toSorted(byFirst), any]);
}

function byFirst([a = ""]: readonly string[], [b = ""]: readonly string[]): number {
  return a < b ? -1 : 1;
}

function sectionOf([format, layout]: readonly [string, Layout]): string {
  const { label, file, remark, columns } = layout;
  const text = wrapped(`\`--format ${format}\`: ${file}. ${remark.replaceAll(/\s+/gu, " ")}`);
  const grouped = new Set<string>([...Object.values(groups).flat(), "ignored"]);
  const missing = Object.keys(columns).filter((role) => !grouped.has(role));
  if (missing.length > 0) throw new Error(`No line of groups has ${missing.join(", ")}.`);
  const lines = Object.entries(groups).flatMap(([group, roles]) => lineOf(group, roles, layout));
  return `### ${label}\n\n${text}\n\n${lines.join("\n")}`;
}

/** `- **Price:** `a`, `b`; price of a sale: `c``; none where the system has no such column. */
function lineOf(group: string, roles: readonly Role[], { columns }: Layout): string[] {
  const parts = roles.flatMap((role) => {
    const names = columns[role];
    if (names === undefined) return [];
    const meaning = (roleMeanings[role] ?? role).replace(/^available: /u, "");
    const label = meaning === group.toLowerCase() ? "" : meaning.replace(/(?<!\?)$/u, ":");
    return [`${label} ${clipped(namesIn(names).map((name) => `\`${name}\``))}`.trim()];
  });
  return parts.length === 0 ? [] : [wrapped(`- **${group}:** ${parts.join("; ")}`, "  ")];
}

function clipped(names: readonly string[]): string {
  let text = "";
  for (const [at, name] of names.entries()) {
    const next = at === 0 ? name : `${text}, ${name}`;
    if (next.length > namesCharactersMax) return `${text}, …`;
    text = next;
  }
  return text;
}

function wrapped(text: string, indent = ""): string {
  const lines = [""]; // a code span is not broken
  for (const word of text.match(/(?:[^\s`]|`[^`]*`)+/gu) ?? []) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= 140) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}
