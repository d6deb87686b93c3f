import { AppError } from "../../errors.js";

/** `end` is exclusive. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
  /** Elements of an array, as far as commas tell. */
  readonly items: number;
}

/** `path` is for example `["variables", "products"]`. */
export interface LongMember extends JsonRange {
  readonly path: readonly string[];
}

interface FoundMember extends JsonRange {
  /** The ranges of the names in its path, quotes included. */
  readonly names: readonly (readonly [start: number, end: number])[];
}

/** GraphQL's deepest input has fewer than 10 levels. */
export const depthMax = 64;
export const longFromBytes = 64 * 1024;
/** Values are looked for in the outermost object and its members. */
const levelsMax = 2;

// Not imported: that would slow the loops over bytes by a quarter.
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a] as const;
const [arrayStart, arrayEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** The innermost member at a level. */
interface Level {
  nameStart: number;
  nameEnd: number;
  /** After its colon, or -1. */
  valueStart: number;
  /** Directly within its value. */
  commas: number;
}

/**
 * Scans JSON (RFC 8259) as it arrives: refuses deep nesting, and finds long values to parse in slices. Detecting
 * invalid JSON is left to parsing.
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

  /** @throws {AppError} BAD_REQUEST for deep nesting */
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

  /** Members in the order of their ends, given the whole text. */
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
    return ""; // invalid JSON, which parsing refuses
  }
}
