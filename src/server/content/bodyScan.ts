import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { type JsonBody, parseBody, receiveBody, sharedBody, type SharedBody } from "../../lib/json/jsonBody.js";
import { startThread } from "../../lib/threads/thread.js";
import { asBuffer } from "../../lib/text.js";
import { Pieces } from "../../lib/streams/pieces.js";
import type { NewScan, ScanAnswer } from "./bodyScan.worker.js";
import { BodyScanner, type ScannedBody, type ScanOptions } from "./bodyScanner.js";

export interface ReceivedBody extends JsonBody {
  readonly fingerprint: string | undefined;
}

/** Scans and joins a JSON body as it arrives. */
export interface BodyScan {
  /**
   * Takes a piece. Do not use its memory afterwards. If this returns a promise, wait for it before the next piece.
   *
   * @throws {AppError} BAD_REQUEST for deep nesting
   */
  add(piece: Buffer): Promise<void> | undefined;
  /** Call this when the body has arrived. @throws {AppError} as add, `cutBody` and `parseBody`, as a rejection */
  end(): Promise<ReceivedBody>;
  /** Frees the body. */
  close(): void;
}

/** Scanning this many bytes takes a millisecond. */
const scannedHereMax = 256 * 1024;
/** A sender may be faster than the thread, so at most this many bytes of a body wait for it. */
const unscannedBytesMax = 1024 * 1024;
/** Each message to the thread takes some microseconds, so we join pieces up to this many bytes. */
const messageBytes = 64 * 1024;

let thread: Worker | undefined;

/**
 * Scans a large body on a thread, which also keeps it, so that its memory does not wait for a garbage collection.
 *
 * @param length in bytes, if known
 * @param refuse called with an error that is found between two pieces
 */
export function scanBody(options: ScanOptions, length: number | undefined, refuse: (error: Error) => void): BodyScan {
  if (length !== undefined && length > scannedHereMax) return new ThreadScan({ options, length }, refuse);
  const scanner = new BodyScanner(options, length);
  let onThread: BodyScan | undefined;
  return {
    add(piece) {
      if (onThread === undefined && scanner.length + piece.length > scannedHereMax) {
        onThread = new ThreadScan({ options }, refuse);
        void onThread.add(scanner.bytes());
      }
      if (onThread !== undefined) return onThread.add(piece);
      scanner.push(piece);
      return undefined;
    },
    async end() {
      if (onThread !== undefined) return onThread.end();
      const bytes = scanner.bytes();
      return received(scanner.end(bytes), sharedBody(bytes));
    },
    close: () => onThread?.close(),
  };
}

class ThreadScan implements BodyScan {
  readonly #port: MessagePort;
  readonly #unsent = new Pieces();
  readonly #scanned: Promise<ScannedBody>;
  #sending: NodeJS.Immediate | undefined;
  #unscanned = 0;
  #goOn: () => void = () => undefined;

  constructor(scan: Omit<NewScan, "port">, refuse: (error: Error) => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    runningThread().postMessage({ ...scan, port: port2 } satisfies NewScan, [port2]);
    this.#scanned = new Promise<ScannedBody>((resolve, reject) => {
      port1.on("message", (answer: ScanAnswer) => {
        if (answer.kind === "scanned") return resolve(answer);
        if (answer.kind === "refused") return reject(new AppError(answer.code, answer.message));
        this.#unscanned -= answer.bytes;
        return this.#goOn();
      });
      port1.once("close", () => reject(new Error("The thread that scans bodies has stopped.")));
    });
    this.#scanned.catch((error: Error) => {
      refuse(error);
      this.#goOn(); // the thread will not report the last piece as scanned
    });
  }

  add(piece: Buffer): Promise<void> | undefined {
    this.#unscanned += piece.length;
    this.#unsent.push(piece);
    if (this.#unsent.length >= messageBytes) this.#send();
    else this.#sending ??= setImmediate(() => this.#send());
    if (this.#unscanned < unscannedBytesMax) return undefined;
    return new Promise((resolve) => {
      this.#goOn = resolve;
    });
  }

  async end(): Promise<ReceivedBody> {
    this.#send();
    this.#port.postMessage("end");
    const { json, fingerprint } = await this.#scanned;
    return received({ json: { ...json, frame: asBuffer(json.frame) }, fingerprint }, bodyBehind(this.#port));
  }

  close(): void {
    clearImmediate(this.#sending);
    this.#port.removeAllListeners("close");
    this.#port.close();
  }

  #send(): void {
    clearImmediate(this.#sending);
    this.#sending = undefined;
    if (this.#unsent.length > 0) sendPiece(this.#port, this.#unsent.take());
  }
}

async function received({ json, fingerprint }: ScannedBody, body: SharedBody): Promise<ReceivedBody> {
  return { ...(await parseBody(json, body)), fingerprint };
}

function bodyBehind(port: MessagePort): SharedBody {
  const sendTo = (other: MessagePort) => port.postMessage(other, [other]);
  return {
    sendTo,
    bytes() {
      const { port1, port2 } = new MessageChannel();
      sendTo(port2);
      return receiveBody(port1);
    },
  };
}

/** Shares shared memory, moves a buffer that fills its memory, and copies one that is only a part of it. */
function sendPiece(port: MessagePort, piece: Buffer): void {
  if (piece.buffer instanceof SharedArrayBuffer) return port.postMessage(piece);
  const { buffer } = piece.length === piece.buffer.byteLength ? piece : new Uint8Array(piece);
  port.postMessage(new Uint8Array(buffer), [buffer as ArrayBuffer]);
}

/** One thread scans all bodies. If it fails, the next body starts another one. */
function runningThread(): Worker {
  if (thread !== undefined) return thread;
  const started = startThread("server/content/bodyScan.worker", { resourceLimits: { maxYoungGenerationSizeMb: 4 } });
  const forget = () => {
    if (thread === started) thread = undefined;
  };
  started.once("error", forget);
  started.once("exit", forget);
  started.unref();
  thread = started;
  return started;
}
