/**
 * Lines of a table for people: a heading, then the rows, each column as wide as its widest cell. The last column is free
 * text and is not padded.
 */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heading.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  return [line(heading), ...rows.map(line)];
}
