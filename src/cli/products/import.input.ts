import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib, { createGunzip } from "node:zlib";
import { AppError } from "../../errors.js";

/** Undefined before Node.js 22.15. */
const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };

/**
 * Runs work on a file. Standard input (`-`), pipes and compressed files (`.gz`, `.zst`) are first copied to a temporary file, because an
 * import reads the file again if the catalog refuses rows. The copy is removed at the end, and on signals.
 *
 * @throws {AppError} BAD_REQUEST if a compressed file is broken, or this version of Node.js cannot read it
 */
export async function withInput<Result>(file: string, work: (path: string) => Promise<Result>): Promise<Result> {
  const inflater = inflaterOf(file);
  if (file !== "-" && inflater === undefined && isReadAgain(file)) return work(file);
  if (file === "-" && process.stdin.isTTY) {
    throw new Error("Standard input is a terminal. Pipe a file into the command.");
  }
  const folder = mkdtempSync(join(tmpdir(), "vitrine-import-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const copy = join(
      folder,
      inflater === undefined ? "standard-input.csv" : basename(file).replace(compressedName, ""),
    );
    const written = createWriteStream(copy, { mode: 0o600 });
    if (inflater === undefined) {
      await pipeline(file === "-" ? process.stdin : createReadStream(file), written);
      return await work(await namedByContent(copy));
    }
    await pipeline(createReadStream(file), inflater, written).catch((error: unknown) => fail(file, error));
    return await work(copy);
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** False for a pipe, such as that of `<(…)`. Files that cannot be read at all are left to the import. */
function isReadAgain(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined || stats.isFile() || stats.isDirectory();
}

/** Standard input and pipes have no file extension, so the content decides: no CSV header begins with a brace. */
async function namedByContent(copy: string): Promise<string> {
  let head = "";
  for await (const text of createReadStream(copy, { encoding: "utf8", end: 4_095 })) head += String(text);
  if (!/^\uFEFF?\s*\{/u.test(head)) return copy;
  const renamed = copy.replace(/\.csv$/u, ".ndjson");
  await rename(copy, renamed);
  return renamed;
}

/** Whether the file extension is one of NDJSON. */
export function isNdjson(file: string): boolean {
  return /\.(?:ndjson|jsonl)$/iu.test(file);
}

const compressedName = /\.(?:gz|zst)$/iu;

function inflaterOf(file: string): Transform | undefined {
  if (/\.gz$/iu.test(file)) return createGunzip();
  if (!/\.zst$/iu.test(file)) return undefined;
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  const message = `Node.js ${process.versions.node} cannot read zstd (22.15 and later can). Decompress it first: zstd -dc ${file} | npx vitrine import STORE -`;
  throw new AppError("BAD_REQUEST", message);
}

/** @throws a clear error if the file is not compressed as its name says */
function fail(file: string, error: unknown): never {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!code.startsWith("Z_") && !code.startsWith("ZSTD_") && !code.startsWith("ERR_")) throw error;
  throw new AppError("BAD_REQUEST", `${file} is not compressed as its name says, or is incomplete.`, { cause: error });
}
