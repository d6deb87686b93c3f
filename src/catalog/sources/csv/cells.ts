export type Delimiter = (typeof delimiters)[number];
export const delimiters = [",", ";", "\t"] as const;

/**
 * The cells of a record, in linear time. White space around a cell is dropped. A cell that begins with a quote ends at the next one that
 * is not doubled; within any other cell, quotes are text.
 *
 * @returns undefined for an empty record, a quote that is never closed, text after a closing quote, and a line end that is not quoted
 */
export function cellsOf(record: string, delimiter: Delimiter = ","): readonly string[] | undefined {
  if (record === "") return undefined;
  const cells: string[] = [];
  let quote = -1;
  for (let start = 0; start <= record.length;) {
    if (quote < start) quote = indexOrEnd(record, '"', start);
    let end = indexOrEnd(record, delimiter, start);
    if (quote < end && isPadding(record.slice(start, quote))) {
      const close = closingQuote(record, quote);
      end = indexOrEnd(record, delimiter, close + 1);
      if (close === -1 || !isPadding(record.slice(close + 1, end))) return undefined;
      const text = record.slice(quote + 1, close);
      cells.push(text.includes('"') ? text.replaceAll('""', '"') : text);
    } else {
      const text = record.slice(start, end);
      if (hasLineEnd(text)) return undefined;
      cells.push(text.trim());
    }
    start = end + 1;
  }
  return cells;
}

function indexOrEnd(record: string, character: string, from: number): number {
  const index = record.indexOf(character, from);
  return index === -1 ? record.length : index;
}

function isPadding(text: string): boolean {
  return text === "" || (text.trim() === "" && !hasLineEnd(text));
}

function hasLineEnd(text: string): boolean {
  return text.includes("\n") || text.includes("\r");
}

/** The quote that ends the cell which begins with one at `start`, or -1. Two quotes are one of its text. */
function closingQuote(record: string, start: number): number {
  let end = record.indexOf('"', start + 1);
  while (end !== -1 && record[end + 1] === '"') end = record.indexOf('"', end + 2);
  return end;
}
