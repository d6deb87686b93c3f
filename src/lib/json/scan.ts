import { AppError } from "../../errors.js";

/** The bytes of a value in a JSON text; `end` is exclusive. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
  /** Of an array: its elements, as far as commas tell. */
  readonly items: number;
}

/** A long value and its path, such as `["variables", "products"]`. */
export interface LongMember extends JsonRange {
  readonly path: readonly string[];
}

interface FoundMember extends JsonRange {
  /** The ranges of the names in its path, quotes included. */
  readonly names: readonly (readonly [start: number, end: number])[];
}

/** GraphQL's deepest input has fewer than 10 levels. */
export const depthMax = 64;
/** Shorter values are not reported. */
export const longFromBytes = 64 * 1024;
/** Values are looked for in the outermost object and its members. */
const levelsMax = 2;

// Not imported: that would slow the loops over bytes by a quarter.
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [arrayStart, arrayEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** What is known of the innermost member at a level. */
interface Level {
  nameStart: number;
  nameEnd: number;
  /** After its colon, or -1. */
  valueStart: number;
  /** Commas directly within its value. */
  commas: number;
}

/**
 * Scans a JSON text (RFC 8259) as it arrives, without parsing it: refuses deep nesting, and finds long values to parse in
 * slices. It does not detect invalid JSON; parsing does.
 */
export class JsonScanner {
  readonly #found: FoundMember[] = [];
  readonly #levels: Level[] = Array.from({ length: levelsMax }, () => ({
    nameStart: 0,
    nameEnd: 0,
    valueStart: -1,
    commas: 0,
  }));
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #stringStart = 0;
  #stringEnd = 0;
  /** Bytes of earlier pieces. */
  #offset = 0;

  /** Takes the next bytes. @throws {AppError} BAD_REQUEST where they are nested too deeply */
  push(bytes: Uint8Array): void {
    const length = bytes.length;
    let at = this.#isEscaped ? 1 : 0;
    this.#isEscaped = false;
    let inString = this.#inString;
    while (at < length) {
      const byte = bytes[at];
      if (inString) {
        if (byte === quote) {
          inString = false;
          this.#stringEnd = this.#offset + at + 1;
        } else if (byte === backslash) {
          at += 1; // what follows is escaped
        }
      } else if (byte === quote) {
        inString = true;
        this.#stringStart = this.#offset + at;
      } else if (byte === comma || byte === colon || (byte !== undefined && byte > 0x5a)) {
        this.#take(byte, this.#offset + at);
      }
      at += 1;
    }
    this.#isEscaped = at > length;
    this.#inString = inString;
    this.#offset += length;
  }

  /** Whether all strings, objects and arrays are closed. */
  get isComplete(): boolean {
    return this.#depth === 0 && !this.#inString;
  }

  /** The long values found so far, in the order of their ends, given the whole text. */
  longMembers(text: Buffer): readonly LongMember[] {
    return this.#found.map(({ names, ...range }) => ({
      ...range,
      path: names.map(([start, end]) => nameAt(text, start, end)),
    }));
  }

  #take(byte: number, at: number): void {
    switch (byte) {
      case arrayStart:
      case objectStart:
        return this.#open();
      case arrayEnd:
      case objectEnd:
        return this.#close(at);
      case comma:
        return this.#separate(at);
      case colon: {
        const level = this.#levels[this.#depth - 1];
        if (level === undefined) return;
        level.nameStart = this.#stringStart;
        level.nameEnd = this.#stringEnd;
        level.valueStart = at + 1;
        level.commas = 0;
      }
    }
  }

  #open(): void {
    this.#depth += 1;
    if (this.#depth > depthMax) {
      throw new AppError("BAD_REQUEST", `The body may have at most ${depthMax} levels of arrays and objects.`);
    }
    const level = this.#levels[this.#depth - 1];
    if (level !== undefined) level.valueStart = -1;
  }

  #close(at: number): void {
    this.#endMember(at);
    this.#depth -= 1;
  }

  #separate(at: number): void {
    this.#endMember(at);
    const around = this.#levels[this.#depth - 2];
    if (around !== undefined) around.commas += 1;
  }

  /** The member at the innermost level, if there is one, ends here. */
  #endMember(end: number): void {
    const level = this.#levels[this.#depth - 1];
    if (level === undefined || level.valueStart === -1) return;
    const { valueStart: start, commas } = level;
    level.valueStart = -1;
    if (end - start < longFromBytes) return;
    const names = this.#levels
      .slice(0, this.#depth)
      .map(({ nameStart, nameEnd }): readonly [number, number] => [nameStart, nameEnd]);
    this.#found.push({ start, end, items: commas + 1, names });
  }
}

function nameAt(text: Buffer, start: number, end: number): string {
  try {
    return String(JSON.parse(text.toString("utf8", start, end)));
  } catch {
    return ""; // no JSON: whoever parses the rest of the text finds out
  }
}
