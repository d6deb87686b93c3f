/** Of the same memory. A Buffer becomes a plain Uint8Array in a message to a thread. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
