import { asLine } from "./lines.js";

/** The lines of a table with aligned columns; the last one is not padded. */
export function table(heading: readonly string[], texts: readonly (readonly string[])[]): string[] {
  const rows = texts.map((row) => row.map(asLine));
  const widths = heading.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return [line(heading), ...rows.map(line)];
}
