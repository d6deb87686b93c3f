import { type Layout, namesIn, type Role } from "../src/catalog/sources/formats/layout.js";
import { roleMeanings } from "../src/catalog/sources/formats/columnsUsed.js";
import { layouts } from "../src/catalog/sources/formats/recognize.js";

const cellMax = 120;
/** The page with the tables of all layouts between its marks. @throws {Error} for a page without them */
export function withLayouts(page: string): string {
  const parts = page.split(/(<!-- \/?layouts -->)/u);
  const [before, begin, , end, after] = parts;
  if (parts.length !== 5) throw new Error("The page has no place for layouts.");
  return `${before}${begin}\n\n${Object.entries(layouts).map(sectionOf).join("\n\n")}\n\n${end}${after}`;
}

function sectionOf([format, layout]: readonly [string, Layout]): string {
  const { label, file, remark, columns } = layout;
  const rows = (Object.entries(columns) as [Role, string][]).filter(([role]) => role !== "ignored");
  const cells = rows.map(
    ([role, names]) => [roleMeanings[role] ?? role, clipped(namesIn(names).map((name) => `\`${name}\``))] as const,
  );
  const widths = [0, 1].map((at) => Math.max(...cells.map((row) => (row[at] ?? "").length), at === 0 ? 5 : 7));
  const line = (a: string, b: string) => `| ${a.padEnd(widths[0] ?? 0)} | ${b.padEnd(widths[1] ?? 0)} |`;
  const table = [line("Value", "Columns"), line("-".repeat(widths[0] ?? 0), "-".repeat(widths[1] ?? 0))];
  const text = wrapped(`\`--format ${format}\`: ${file}. ${remark.replaceAll(/\s+/gu, " ")}`);
  return `### ${label}\n\n${text}\n\n${[...table, ...cells.map(([a, b]) => line(a, b))].join("\n")}`;
}

function clipped(names: readonly string[]): string {
  let text = "";
  for (const [at, name] of names.entries()) {
    const next = at === 0 ? name : `${text}, ${name}`;
    if (next.length > cellMax - 3) return `${text}, …`;
    text = next;
  }
  return text;
}

function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= 140) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}
