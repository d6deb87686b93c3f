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

/** Scans a body of JSON and puts it together while it arrives. */
export interface BodyScan {
  /**
   * Takes a piece, whose memory must not be used afterwards. The next one should wait for the promise, if there is one.
   *
   * @throws {AppError} BAD_REQUEST for deep nesting
   */
  add(piece: Buffer): Promise<void> | undefined;
  /** The body has arrived. @throws {AppError} as add, `cutBody` and `parseBody`, as a rejection */
  end(): Promise<ReceivedBody>;
  /** Frees the body. */
  close(): void;
}

/** To scan as many takes a millisecond. */
const scannedHereMax = 256 * 1024;
/** The most bytes of a body that wait for the thread: senders may be faster. */
const unscannedBytesMax = 1024 * 1024;
/** Pieces are sent to the thread together, up to so many bytes: each message takes some microseconds. */
const messageBytes = 64 * 1024;

let thread: Worker | undefined;

/**
 * Scans a large body on a thread, which also keeps it, so that its memory does not wait for a garbage collection.
 *
 * @param length in bytes, where it is known
 * @param refuse gets an error that is found between two pieces
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
      this.#goOn(); // there is no message anymore that the last piece was scanned
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

/** Moves a buffer that has memory of its own, shares what is shared, and copies what is a part of more. */
function sendPiece(port: MessagePort, piece: Buffer): void {
  if (piece.buffer instanceof SharedArrayBuffer) return port.postMessage(piece);
  const { buffer } = piece.length === piece.buffer.byteLength ? piece : new Uint8Array(piece);
  port.postMessage(new Uint8Array(buffer), [buffer as ArrayBuffer]);
}

/** One for all bodies; another one after it has failed. */
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
