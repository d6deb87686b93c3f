// Puts large bodies together, scans them, and keeps them for other threads.
import { MessagePort, parentPort } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { lowerPriority } from "../../lib/threads/thread.js";
import { asBuffer } from "../../lib/text.js";
import { collectGarbage, collectYoungGarbage } from "../../lib/threads/garbage.js";
import { BodyScanner, type ScannedBody, type ScanOptions } from "./bodyScanner.js";

export interface NewScan {
  readonly options: ScanOptions;
  /** In bytes, where it is known. */
  readonly length?: number;
  /** Takes messages about this body, until it is closed. */
  readonly port: MessagePort;
}

/** A piece, the end of the body, or a port to send all of it to. */
type ScanMessage = Uint8Array | "end" | MessagePort;

export type ScanAnswer =
  | { readonly kind: "taken"; readonly bytes: number }
  | ({ readonly kind: "scanned" } & ScannedBody)
  | { readonly kind: "refused"; readonly code: AppError["code"]; readonly message: string };

/** How many bytes of pieces, which are soon garbage, are read between two young collections. */
const youngCollectionBytes = 8 * 1024 * 1024;
/** How many bytes of bodies, whose shared memory does not count for V8, are read between two full collections. */
const collectionBytes = 16 * 1024 * 1024;
let piecesBytes = 0;
let bodiesBytes = 0;

// The event loop comes first. Imports, which have the same priority, are not held up by further bodies.
lowerPriority(12);

parentPort?.on("message", ({ options, length, port }: NewScan) => {
  let scanner: BodyScanner | undefined = new BodyScanner(options, length);
  let bytes: Buffer | undefined;
  let bytesTaken = 0;
  const tell = (answer: ScanAnswer): void => port.postMessage(answer);
  const take = (message: ScanMessage): void => {
    if (message instanceof MessagePort) return message.postMessage(bytes);
    if (scanner === undefined) return; // it has been refused
    if (message === "end") {
      bytes = scanner.bytes();
      return tell({ kind: "scanned", ...scanner.end(bytes) });
    }
    scanner.push(asBuffer(message));
    bytesTaken += message.length;
    notePiece(message.length);
    tell({ kind: "taken", bytes: message.length });
  };
  port.on("message", (message: ScanMessage) => {
    try {
      take(message);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      scanner = undefined;
      tell({ kind: "refused", code: error.code, message: error.message });
    }
  });
  port.once("close", () => {
    [scanner, bytes] = [undefined, undefined]; // garbage from now on
    setImmediate(noteBody, bytesTaken);
  });
});

function notePiece(bytes: number): void {
  piecesBytes += bytes;
  if (piecesBytes < youngCollectionBytes) return;
  piecesBytes = 0;
  collectYoungGarbage();
}

function noteBody(bytes: number): void {
  bodiesBytes += bytes;
  if (bodiesBytes < collectionBytes) return;
  bodiesBytes = 0;
  collectGarbage();
}
