import { createHash, type Hash } from "node:crypto";
import { type CutBody, cutBody } from "../../lib/json/jsonBody.js";
import { JsonScanner, longFromBytes } from "../../lib/json/scanJson.js";
import { Pieces } from "../../lib/streams/pieces.js";

export interface ScanOptions {
  /** The path of the object from which `cutBody` cuts long members. */
  readonly parent: readonly string[];
  /** What the fingerprint covers before the body. Without it, there is no fingerprint. */
  readonly fingerprintScope: string | undefined;
}

export interface ScannedBody {
  readonly json: CutBody;
  /** SHA-256 of scope and body, in hexadecimal. */
  readonly fingerprint: string | undefined;
}

/** Joins the pieces of a JSON body and scans them. */
export class BodyScanner {
  readonly #scanner = new JsonScanner();
  readonly #parent: readonly string[];
  readonly #hash: Hash | undefined;
  readonly #pieces = new Pieces();
  /** If the length is known, the body is in memory that threads share. The system commits it only as bytes arrive. */
  readonly #whole: Buffer | undefined;
  #length = 0;

  /** @param length in bytes, if known */
  constructor({ parent, fingerprintScope }: ScanOptions, length = 0) {
    this.#parent = parent;
    if (length >= longFromBytes) this.#whole = sharedMemory(length);
    if (fingerprintScope !== undefined) this.#hash = createHash("sha256").update(fingerprintScope);
  }

  get length(): number {
    return this.#length;
  }

  /** @throws {AppError} BAD_REQUEST for deep nesting */
  push(piece: Buffer): void {
    this.#scanner.push(piece);
    this.#hash?.update(piece);
    if (this.#whole === undefined) this.#pieces.push(piece);
    else piece.copy(this.#whole, this.#length);
    this.#length += piece.length;
  }

  /** All bytes so far. A long body is in memory that threads share. */
  bytes(): Buffer {
    if (this.#whole !== undefined) return this.#whole.subarray(0, this.#length);
    if (this.#length < longFromBytes) return this.#pieces.concat();
    const whole = sharedMemory(this.#length);
    let at = 0;
    for (const piece of this.#pieces.all()) at += piece.copy(whole, at);
    return whole;
  }

  /** @throws {AppError} as `cutBody` */
  end(bytes: Buffer): ScannedBody {
    return { json: cutBody(this.#scanner.end(bytes), this.#parent), fingerprint: this.#hash?.digest("hex") };
  }
}

const largeFromBytes = 4 * 1024 * 1024;
/** glibc always maps larger memory (`mallopt`, M_MMAP_THRESHOLD), and returns it to the system when it is freed. */
const mappedFromBytes = 32 * 1024 * 1024 + 1;

/** Reserves at least `mappedFromBytes` for large memory, so that it is mapped. Only `length` bytes of it are used. */
function sharedMemory(length: number): Buffer {
  const reserved = length < largeFromBytes ? length : Math.max(length, mappedFromBytes);
  return Buffer.from(new SharedArrayBuffer(reserved), 0, length);
}
