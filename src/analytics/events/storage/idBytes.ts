const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;
const uuidBytes = 16;

/**
 * An id as stored, in PostgreSQL's hexadecimal form of `bytea`. A canonical UUID (RFC 9562: lower case, with dashes)
 * takes its 16 bytes instead of 36 characters. Everything else is its UTF-8; text of 16 bytes is followed by a NUL,
 * which no id can contain. So ids that differ in any way differ as bytes too.
 */
export function idBytes(id: string): string {
  if (uuid.test(id)) {
    return `\\x${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}`;
  }
  const hex = Buffer.from(id).toString("hex");
  return `\\x${hex}${hex.length === uuidBytes * 2 ? "00" : ""}`;
}

/** The reverse of idBytes, from the bytes. */
export function idText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length === uuidBytes) {
    const hex = buffer.toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  return buffer.toString("utf8", 0, buffer.length - (buffer.length === uuidBytes + 1 && buffer.at(-1) === 0 ? 1 : 0));
}
