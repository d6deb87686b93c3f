import type { MessagePort } from "node:worker_threads";
import { AppError } from "../../errors.js";

/** Waits for the only message of a port, and closes it. @throws {AppError} UNAVAILABLE if the port is closed instead */
export function firstMessage<Message>(port: MessagePort): Promise<Message> {
  return new Promise((resolve, reject) => {
    port.once("message", (message: Message) => {
      resolve(message);
      port.close();
    });
    port.once("close", () => reject(new AppError("UNAVAILABLE", "The body is no longer there. Nothing was changed.")));
  });
}

/** Of the same memory. A Buffer becomes a plain Uint8Array in a message to a thread. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
