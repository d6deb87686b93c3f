import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { type JsonBody, parseBody, receiveBody, type SharedBody, sharedBody } from "../../lib/json/body.js";
import { asBuffer } from "../../lib/asBuffer.js";
import { Pieces } from "../../lib/streams/pieces.js";
import { startThread } from "../../lib/threads/thread.js";
import type { NewScan, ScanAnswer } from "./bodyScan.worker.js";
import { BodyScanner, type ScannedBody, type ScanOptions } from "./bodyScanner.js";

export interface ReceivedBody extends JsonBody {
  readonly fingerprint: string | undefined;
  /** All of it, where nothing was cut out. */
  readonly frame: Buffer;
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
  if (length !== undefined && length > scannedHereMax) return scanOnThread({ options, length }, refuse);
  const scanner = new BodyScanner(options, length);
  let onThread: BodyScan | undefined;
  return {
    add(piece) {
      if (onThread === undefined && scanner.length + piece.length > scannedHereMax) {
        onThread = scanOnThread({ options }, refuse);
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

function scanOnThread(scan: Omit<NewScan, "port">, refuse: (error: Error) => void): BodyScan {
  const { port1: port, port2 } = new MessageChannel();
  runningThread().postMessage({ ...scan, port: port2 } satisfies NewScan, [port2]);
  const unsent = new Pieces();
  let sending: NodeJS.Immediate | undefined;
  const sendPieces = (): void => {
    clearImmediate(sending);
    sending = undefined;
    if (unsent.length > 0) sendPiece(port, unsent.take());
  };
  let unscanned = 0;
  let goOn: () => void = () => undefined;
  const scanned = new Promise<ScannedBody>((resolve, reject) => {
    port.on("message", (answer: ScanAnswer) => {
      if (answer.kind === "scanned") return resolve(answer);
      if (answer.kind === "refused") return reject(new AppError(answer.code, answer.message));
      unscanned -= answer.bytes;
      return goOn();
    });
    port.once("close", () => reject(new Error("The thread that scans bodies has stopped.")));
  });
  scanned.catch((error: Error) => {
    refuse(error);
    goOn(); // nobody says anymore that the last piece was scanned
  });
  return {
    add(piece) {
      unscanned += piece.length;
      unsent.push(piece);
      if (unsent.length >= messageBytes) sendPieces();
      else sending ??= setImmediate(sendPieces);
      if (unscanned < unscannedBytesMax) return undefined;
      return new Promise((resolve) => {
        goOn = resolve;
      });
    },
    async end() {
      sendPieces();
      port.postMessage("end");
      const { json, fingerprint } = await scanned;
      return received({ json: { ...json, frame: asBuffer(json.frame) }, fingerprint }, bodyBehind(port));
    },
    close() {
      clearImmediate(sending);
      port.removeAllListeners("close");
      port.close();
    },
  };
}

async function received({ json, fingerprint }: ScannedBody, body: SharedBody): Promise<ReceivedBody> {
  return { ...(await parseBody(json, body)), fingerprint, frame: json.frame };
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
  const started = startThread("http/content/bodyScan.worker", { resourceLimits: { maxYoungGenerationSizeMb: 4 } });
  const forget = () => {
    if (thread === started) thread = undefined;
  };
  started.once("error", forget);
  started.once("exit", forget);
  started.unref();
  thread = started;
  return started;
}
