import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "../../errors.js";
import { FairShare } from "../../lib/fairShare.js";
import { openAnonymousFile, writeWhole } from "../../lib/streams/anonymousFile.js";
import { Pieces } from "../../lib/streams/pieces.js";
import type { UploadSource } from "../../schema/context.js";
import { type BodyBudget, type BodyShare, inflaterFor, Progress, receive } from "./body.js";

/** Larger bodies go to a temporary file, from which a thread reads them. */
const inMemoryBytesMax = 256 * 1024;
/** Each write waits for the disk, so we join pieces up to this many bytes. */
const writtenBytes = 64 * 1024;

const ofStoreMax = 4;

/**
 * Places for temporary files, each of up to MAX_UPLOAD_BYTES. Each store is its own group: the more places are held, the fewer it may
 * add, so that slow files of one or two stores leave places to others.
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
  /** Ends receiving. */
  readonly signal: AbortSignal;
  /** What the fingerprint covers besides the body. */
  readonly scope: string;
}

interface Upload {
  readonly source: UploadSource;
  /** SHA-256 of scope and inflated body, in hexadecimal. */
  readonly fingerprint: string;
}

/**
 * Receives and inflates a body of any size in constant memory, and runs work on it when it is complete.
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
  inflaterFor(request); // refuses an unknown coding before we open a file
  const hash = createHash("sha256").update(`${scope}\n`);
  const spool = new Spool(storeId, bodies.shareFor(response, storeId), signal);
  const take = (chunk: Buffer): Promise<void> | undefined => {
    if (spool.bytes + chunk.length > bytesMax) throw tooLarge;
    hash.update(chunk);
    return spool.add(chunk);
  };
  try {
    await receive(request, take, { signal, onStart: (fail) => (spool.fail = fail) });
    return await work({ source: await spool.end(), fingerprint: hash.digest("hex") });
  } finally {
    await spool.close();
  }
}

/** Keeps a body as it arrives: a short one in memory, a longer one in a temporary file that needs a place. */
class Spool {
  bytes = 0;
  /** Ends receiving. */
  fail: (error: Error) => void = () => undefined;
  readonly #storeId: string;
  readonly #share: BodyShare;
  readonly #signal: AbortSignal;
  readonly #progress = new Progress();
  readonly #unwritten = new Pieces();
  #written = 0;
  #file: FileHandle | undefined;
  #holdsPlace = false;
  #isClosed = false;

  constructor(storeId: string, share: BodyShare, signal: AbortSignal) {
    this.#storeId = storeId;
    this.#share = share;
    this.#signal = signal;
  }

  add(chunk: Buffer): Promise<void> | undefined {
    this.bytes += chunk.length;
    this.#progress.add(chunk.length);
    this.#unwritten.push(chunk);
    if (this.bytes <= inMemoryBytesMax) return this.#share.grow(this.bytes);
    return this.#unwritten.length < writtenBytes ? undefined : this.#spill();
  }

  async end(): Promise<UploadSource> {
    this.#progress.stop();
    if (this.#file !== undefined && this.#unwritten.length > 0) await this.#spill();
    const text = this.#unwritten.concat();
    if (this.#file === undefined && !isUtf8(text)) await this.#spill(); // only the reader of files names the line that is not UTF-8
    return this.#file === undefined ? { text: text.toString("utf8") } : { file: pathOf(this.#file) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#progress.stop();
    await this.#file?.close();
    this.#file = undefined;
    if (this.#holdsPlace) uploadPlaces.release(this.#storeId);
    this.#holdsPlace = false;
  }

  async #spill(): Promise<void> {
    if (!this.#holdsPlace) await uploadPlaces.take(this.#storeId, { signal: this.#signal });
    this.#holdsPlace = true;
    if (!this.#isClosed) this.#progress.watch(() => uploadPlaces.isWanted(this.#storeId), this.fail);
    this.#file ??= await openAnonymousFile();
    if (this.#isClosed) return this.close(); // it was refused while we waited
    const piece = this.#unwritten.take();
    await writeWhole(this.#file, piece, this.#written);
    this.#written += piece.length;
    this.#share.release(); // the bytes are in the file now, not in memory
  }
}

/** A path to a file that has no name. It is valid while the file is open. */
function pathOf({ fd }: FileHandle): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`;
}
