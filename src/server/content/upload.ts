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
  /** What the fingerprint covers besides the body. */
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

/** Keeps a body as it arrives: a short one in memory, and a longer one in a temporary file, for which it holds a place. */
class Spool {
  bytes = 0;
  /** Ends the receiving. */
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
    if (this.#file === undefined && !isUtf8(text)) await this.#spill(); // the reader of files finds the line
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
    if (this.#isClosed) return this.close(); // it was refused meanwhile
    const piece = this.#unwritten.take();
    await writeWhole(this.#file, piece, this.#written);
    this.#written += piece.length;
    this.#share.release(); // what is in the file is no longer in memory
  }
}

/** A path of a file without a name, for as long as it is open. */
function pathOf({ fd }: FileHandle): string {
  return process.platform === "linux" ? `/proc/self/fd/${fd}` : `/dev/fd/${fd}`;
}
