import { isUtf8 } from "node:buffer";
import { visit } from "jsonc-parser";

/** The parser calls itself at each level, so texts with more levels would overflow the stack. */
const levelsMax = 1_000;

/**
 * Where a text stops being JSON (RFC 8259) in UTF-8: the index of the first byte of the token that cannot stand there, or the
 * text's length where it ends too early. For texts that could not be parsed, since the message of JSON.parse quotes them and
 * names no place.
 */
export function faultIn(bytes: Uint8Array): number {
  const readable = isUtf8(bytes) ? bytes.length : utf8Fault(bytes);
  const text = new TextDecoder().decode(bytes);
  const at = grammarFault(text);
  const markBytes = bytes[0] === 0xef && readable >= 3 ? 3 : 0; // of a byte order mark, which the decoder drops
  return at === text.length ? readable : Math.min(readable, markBytes + Buffer.byteLength(text.slice(0, at)));
}

/** The index of the first token that cannot stand in JSON where it is, or the text's length. */
function grammarFault(text: string): number {
  let fault = text.length;
  let levels = 0;
  const found = new Error("The first fault is found.");
  const stop = (_code: unknown, offset: number): never => {
    fault = offset;
    throw found;
  };
  const enter = (offset: number): void => {
    levels += 1;
    if (levels > levelsMax) stop(undefined, offset);
  };
  const leave = (): void => void (levels -= 1);
  try {
    visit(
      text,
      { onError: stop, onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave },
      { disallowComments: true },
    );
  } catch (error) {
    if (error !== found) throw error;
  }
  return fault;
}

function utf8Fault(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const lead = Number(bytes[at]);
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > 1 && !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return bytes.length;
}

const newline = 0x0a;
const sliceBytes = 1024 * 1024;

/** The line and the column, both from 1, of a byte. Columns are UTF-16 code units, as editors count them. */
export function placeIn(bytes: Uint8Array, at: number): { readonly line: number; readonly column: number } {
  let [line, lineStart] = [1, 0];
  for (let end = bytes.indexOf(newline); end !== -1 && end < at; end = bytes.indexOf(newline, lineStart)) {
    [line, lineStart] = [line + 1, end + 1];
  }
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true }); // what is no UTF-8 counts, too
  let column = 1;
  for (let from = lineStart; from < at; from += sliceBytes) {
    column += utf8.decode(bytes.subarray(from, Math.min(from + sliceBytes, at)), { stream: true }).length;
  }
  return { line, column };
}

/** What is said of a line that is not JSON. */
export function notJson(line: string): string {
  const bytes = Buffer.from(line);
  return `The line is not JSON: see column ${placeIn(bytes, faultIn(bytes)).column}.`;
}
