/** Returns a Buffer of the same memory: in a message to a thread, a Buffer becomes a plain Uint8Array. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
