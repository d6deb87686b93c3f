const typeOf = (letter: string): number => letter.charCodeAt(0);

/** Types of messages (PostgreSQL manual, 55.7). */
export const messageTypes = {
  parse: typeOf("P"),
  bind: typeOf("B"),
  describe: typeOf("D"),
  sync: typeOf("S"),
  flush: typeOf("H"),
  query: typeOf("Q"),
  functionCall: typeOf("F"),
  terminate: typeOf("X"),
  /** Types of answers. */
  parseComplete: typeOf("1"),
  error: typeOf("E"),
  readyForQuery: typeOf("Z"),
} as const;

/** The type and the length, which does not count the type. */
export const headerBytes = 5;

export function messageOf(type: string, body: string): Uint8Array {
  return withLength(Buffer.from(`${type}....${body}`));
}

export function inserted(message: Uint8Array, at: number, text: string): Uint8Array {
  return withLength(Buffer.concat([message.subarray(0, at), Buffer.from(text), message.subarray(at)]));
}

/** Without the header. A byte is a character, so that different bytes are different texts. */
export function textOf(message: Uint8Array): string {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString("latin1", headerBytes);
}

function withLength(message: Buffer): Uint8Array {
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}
