import { AppError } from "../../errors.js";

interface FileKind {
  readonly name: string;
  readonly isIn: (head: Buffer) => boolean;
  readonly advice: { readonly command: string; readonly rest: string };
}

const startsWith =
  (...bytes: readonly number[]) =>
  (head: Buffer) =>
    bytes.every((byte, at) => head[at] === byte);
const text = (head: Buffer) =>
  head
    .toString("latin1")
    .replace(/^\u{ef}\u{bb}\u{bf}/u, "")
    .trimStart();
const asCsv = "Save it as CSV (in Excel: CSV UTF-8).";
const both = (advice: string) => ({ command: advice, rest: advice });

const json = "JSON";

/** Files that are not rows of text, by their first bytes. */
const kinds: readonly FileKind[] = [
  {
    name: "an Excel workbook (.xlsx)",
    isIn: (head) => isZip(head) && /xl\/|\[Content_Types\]|_rels\/|docProps\//u.test(text(head)),
    advice: both(asCsv),
  },
  {
    name: "a ZIP archive",
    isIn: (head) => isZip(head),
    advice: both("Unpack it, and import the file that it contains."),
  },
  { name: "an old Excel workbook (.xls)", isIn: startsWith(0xd0, 0xcf, 0x11, 0xe0), advice: both(asCsv) },
  {
    name: "compressed with gzip",
    isIn: startsWith(0x1f, 0x8b),
    advice: { command: "Give it a name that ends in .gz.", rest: "Send it with the header Content-Encoding: gzip." },
  },
  {
    name: "compressed with zstd",
    isIn: startsWith(0x28, 0xb5, 0x2f, 0xfd),
    advice: { command: "Give it a name that ends in .zst.", rest: "Decompress it first." },
  },
  {
    name: "a PDF document",
    isIn: (head) => text(head).startsWith("%PDF-"),
    advice: both("Import CSV, NDJSON or a feed."),
  },
  {
    name: json,
    isIn: (head) => /^(?:\[\s*(?:\{|\]|$)|\{\s*(?:"|\}|$))/u.test(text(head)),
    advice: {
      command: "Write one product on each line, and name the file .ndjson: jq -c '.[]' FILE > products.ndjson.",
      rest: "Send a list of products to …/product/v1/bulk as application/json, or one product on each line as application/x-ndjson.",
    },
  },
];

function isZip(head: Buffer): boolean {
  return startsWith(0x50, 0x4b, 0x03, 0x04)(head) || startsWith(0x50, 0x4b, 0x05, 0x06)(head);
}

/** @throws {AppError} BAD_REQUEST that names the kind of file, and says what to do */
export function refuseOtherFiles(head: Buffer, isCommand: boolean, isNdjson = false): void {
  const kind = kinds.find(({ isIn, name }) => isIn(head) && !(isNdjson && name === json));
  if (kind === undefined) return;
  const { name, advice } = kind;
  throw new AppError(
    "BAD_REQUEST",
    `The file is ${name}, and not ${isNdjson ? "NDJSON" : "CSV or a feed"}. ${isCommand ? advice.command : advice.rest}`,
  );
}

/** For files and bodies of other things than products. @param wanted what they must be @throws {AppError} BAD_REQUEST as refuseOtherFiles */
export function refusePacked(head: Buffer, wanted: string): void {
  const kind = kinds.find(({ isIn, name }) => name !== json && isIn(head));
  if (kind === undefined) return;
  throw new AppError("BAD_REQUEST", `The file is ${kind.name}, and not ${wanted}: unpack it, or export it as that.`);
}

/** Enough for a byte order mark, the declaration of an XML document, and the first name in an archive. */
export const headBytes = 512;

/** The first bytes, and all of them. @param check receives the first bytes; if it throws, the source is closed */
export async function withHead(chunks: AsyncIterable<Buffer>, check: (head: Buffer) => void) {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    const head = await readHead(iterator);
    check(head);
    return { head, all: rejoined(head, iterator) };
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
}

async function readHead(iterator: AsyncIterator<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  while (length < headBytes) {
    const step = await iterator.next();
    if (step.done === true) break;
    parts.push(step.value);
    length += step.value.length;
  }
  return Buffer.concat(parts);
}

async function* rejoined(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    if (head.length > 0) yield head;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) yield step.value;
  } finally {
    await iterator.return?.();
  }
}
