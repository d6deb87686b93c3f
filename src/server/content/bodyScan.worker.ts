// Joins and scans large bodies, and keeps them for other threads.
import { MessagePort, parentPort } from "node:worker_threads";
import { AppError } from "../../errors.js";
import { lowerPriority } from "../../lib/threads/thread.js";
import { asBuffer } from "../../lib/text.js";
import { collectGarbage, collectYoungGarbage } from "../../lib/threads/garbage.js";
import { BodyScanner, type ScannedBody, type ScanOptions } from "./bodyScanner.js";

export interface NewScan {
  readonly options: ScanOptions;
  /** In bytes, if known. */
  readonly length?: number;
  /** For messages about this body. When the port is closed, the body is freed. */
  readonly port: MessagePort;
}

/** A piece, the end of the body, or a port to which the whole body is to be sent. */
type ScanMessage = Uint8Array | "end" | MessagePort;

export type ScanAnswer =
  | { readonly kind: "taken"; readonly bytes: number }
  | ({ readonly kind: "scanned" } & ScannedBody)
  | { readonly kind: "refused"; readonly code: AppError["code"]; readonly message: string };

/** Pieces are soon garbage, so we collect young garbage whenever we have read this many bytes of them. */
const youngCollectionBytes = 8 * 1024 * 1024;
/** V8 does not count shared memory, so we collect all garbage whenever bodies of this many bytes were freed. */
const collectionBytes = 16 * 1024 * 1024;
let piecesBytes = 0;
let bodiesBytes = 0;

// The event loop comes first. Imports have the same priority as bodies, so that further bodies do not hold them up.
lowerPriority(12);

parentPort?.on("message", ({ options, length, port }: NewScan) => {
  let scanner: BodyScanner | undefined = new BodyScanner(options, length);
  let bytes: Buffer | undefined;
  let bytesTaken = 0;
  const tell = (answer: ScanAnswer): void => port.postMessage(answer);
  const take = (message: ScanMessage): void => {
    if (message instanceof MessagePort) return message.postMessage(bytes);
    if (scanner === undefined) return; // the body was refused
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
    [scanner, bytes] = [undefined, undefined]; // so that they can be collected
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
