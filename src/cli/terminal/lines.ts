/** Control characters (C0, DEL, C1), those that turn the direction of text, and those that end a line. */
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * A text as one line for a terminal: names come from tenants, and a control character in one could move the cursor, add
 * lines or write to the clipboard.
 */
export function asLine(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Lines as they are written: all texts for people go through here. */
export function asLines(lines: string | readonly string[]): string {
  return [lines]
    .flat()
    .map((line) => `${asLine(line)}\n`)
    .join("");
}

/** Writes to standard error. */
export function printError(lines: string | readonly string[]): void {
  process.stderr.write(asLines(lines));
}
