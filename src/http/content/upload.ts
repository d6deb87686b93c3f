import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../../errors.js";
import { FairShare } from "../../lib/fairShare.js";
import { openAnonymousFile, writeWhole } from "../../lib/anonymousFile.js";
import { Pieces } from "../../lib/streams/pieces.js";
import type { UploadSource } from "../../schema/context.js";
import { receive } from "./body.js";
import type { BodyBudget } from "./bodyBudget.js";
import { inflaterFor } from "./contentEncoding.js";
import { Progress } from "./progress.js";

/** A thread reads larger bodies from a temporary file. */
const inMemoryBytesMax = 256 * 1024;
/** Pieces are written together, up to so many bytes: each write waits for the disk. */
const writtenBytes = 64 * 1024;

const ofStoreMax = 4;

/**
 * For temporary files, each of which may have MAX_UPLOAD_BYTES. The more places are held, the fewer a store may add, as if each
 * were a group of stores: slow files of one or two stores leave places to others.
 */
export const uploadPlaces = new FairShare({
  places: 8,
  ofStoreMax,
  groups: { max: ofStoreMax, of: (storeId) => storeId },
  message: "Too many large files arrive at the same time. Nothing was changed.",
  retryAfterSeconds: 5,
});

interface UploadOptions {
  readonly bytesMax: number;
  readonly storeId: string;
  readonly bodies: BodyBudget;
  /** Ends the receiving. */
  readonly signal: AbortSignal;
  /** What the fingerprint covers beside the body. */
  readonly scope: string;
}

interface Upload {
  readonly source: UploadSource;
  /** SHA-256 of scope and inflated body, in hexadecimal. */
  readonly fingerprint: string;
}

/**
 * Receives a body of any size in constant memory, inflated, and runs work on it once it is complete.
 *
 * @throws {AppError} as readBody, or what the work throws
 */
export async function withUpload<Result>(
  request: IncomingMessage,
  response: ServerResponse,
  { bytesMax, storeId, bodies, signal, scope }: UploadOptions,
  work: (upload: Upload) => Promise<Result>,
): Promise<Result> {
  const tooLarge = new AppError("PAYLOAD_TOO_LARGE", `The body may have at most ${bytesMax} bytes (MAX_UPLOAD_BYTES).`);
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) throw tooLarge;
  inflaterFor(request); // refuses an unknown coding before anything is opened
  const share = bodies.shareFor(response, storeId);
  const hash = createHash("sha256").update(`${scope}\n`);
  const unwritten = new Pieces();
  let bytes = 0;
  let written = 0;
  let file: FileHandle | undefined;
  let holdsPlace = false;
  const progress = new Progress();
  let fail: (error: Error) => void = () => undefined;
  const spill = async (): Promise<void> => {
    if (!holdsPlace) await uploadPlaces.take(storeId, { signal });
    holdsPlace = true;
    progress.watch(() => uploadPlaces.isWanted(storeId), fail);
    file ??= await openAnonymousFile();
    const piece = unwritten.take();
    await writeWhole(file, piece, written);
    written += piece.length;
    share.release(); // what is in the file is no longer in memory
  };
  try {
    await receive(
      request,
      (chunk) => {
        bytes += chunk.length;
        if (bytes > bytesMax) throw tooLarge;
        progress.add(chunk.length);
        hash.update(chunk);
        unwritten.push(chunk);
        if (bytes <= inMemoryBytesMax) return share.grow(bytes);
        return unwritten.length < writtenBytes ? undefined : spill();
      },
      { signal, onStart: (failWith) => (fail = failWith) },
    );
    progress.stop();
    if (file !== undefined && unwritten.length > 0) await spill();
    const text = unwritten.concat();
    if (file === undefined && !isUtf8(text)) await spill(); // the reader of files finds the line
    const source = file === undefined ? { text: text.toString("utf8") } : { file: pathOf(file) };
    return await work({ source, fingerprint: hash.digest("hex") });
  } finally {
    progress.stop();
    await file?.close();
    if (holdsPlace) uploadPlaces.release(storeId);
  }
}

/** A path of a file without a name, for as long as it is open. */
function pathOf({ fd }: FileHandle): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`;
}
