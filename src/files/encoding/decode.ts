import iconv from "iconv-lite";
import { headBytes, refuseOtherFiles, withHead } from "./fileKinds.js";
import { type CsvPiece, utf8Pieces } from "../csv/csvPieces.js";

const replacement = "\ufffd";

const marks = [
  { encoding: "UTF-8", bytes: [0xef, 0xbb, 0xbf] },
  { encoding: "UTF-16LE", bytes: [0xff, 0xfe] },
  { encoding: "UTF-16BE", bytes: [0xfe, 0xff] },
] as const;

/** Codecs of iconv-lite that encode bytes as text, and CESU-8, whose decoder fails at the end of a file. */
const notOfFiles = new Set(["base64", "hex", "binary", "internal", "cesu8"]);

/** Whether a file can have this encoding, by the names of iconv-lite, which compares only letters and digits and ignores case. */
export function isEncoding(name: string): boolean {
  const letters = name.toLowerCase().replaceAll(/:\d{4}$|[^\da-z]/gu, "");
  return letters !== "" && !notOfFiles.has(letters) && iconv.encodingExists(name);
}

export interface DecodedText {
  readonly encoding: string;
  /** The text up to the first line that is invalid in the encoding. */
  readonly pieces: AsyncIterable<CsvPiece>;
}

/**
 * Decodes in constant memory, by the byte order mark, the XML declaration or the named encoding, else as UTF-8.
 *
 * @param open reads the bytes from their beginning
 * @throws {AppError} BAD_REQUEST for files that are not rows of text
 */
export async function decodeText(
  open: () => AsyncIterable<Buffer>,
  {
    encoding: named,
    isCommand = false,
  }: { readonly encoding?: string | undefined; readonly isCommand?: boolean | undefined },
): Promise<DecodedText> {
  const { head, all } = await withHead(open(), (start) => refuseOtherFiles(start, isCommand));
  const encoding = marked(head) ?? named ?? declared(head) ?? withNuls(head) ?? "UTF-8";
  const isUtf8 = /^utf-?8$/iu.test(encoding);
  return isUtf8 ? { encoding: "UTF-8", pieces: utf8Pieces(all, open) } : { encoding, pieces: converted(all, encoding) };
}

function marked(head: Buffer): string | undefined {
  return marks.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte))?.encoding;
}

/** Recognizes UTF-16 without a mark: in mostly ASCII text, each character has a NUL next to it. */
function withNuls(head: Buffer): string | undefined {
  const nuls = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = nuls;
  if (head.length < 4 || Math.max(even, odd) < head.length / 8 || Math.min(even, odd) > head.length / 16)
    return undefined;
  return odd > even ? "UTF-16LE" : "UTF-16BE";
}

function declared(head: Buffer): string | undefined {
  const text = head.toString("latin1", 0, headBytes);
  const name = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/iu.exec(text)?.[1];
  return name !== undefined && isEncoding(name) ? name : undefined;
}

async function* converted(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<CsvPiece, void> {
  const decoder = iconv.getDecoder(encoding);
  let bytesRead = 0;
  for await (const chunk of chunks) {
    bytesRead += chunk.length;
    const text = decoder.write(chunk);
    const fault = text.indexOf(replacement);
    if (fault !== -1) {
      yield { text: text.slice(0, text.lastIndexOf("\n", fault) + 1), bytesRead, invalidAs: encoding };
      return;
    }
    yield { text, bytesRead };
  }
  const text = decoder.end() ?? "";
  if (text !== "")
    yield text.includes(replacement) ? { text: "", bytesRead, invalidAs: encoding } : { text, bytesRead };
}
