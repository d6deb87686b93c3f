const [lineFeed, carriageReturn] = [10, 13] as const;

/** Searches natively, and each part of a text once. */
export class Finder {
  readonly #character: string;
  #text = "";
  /** There is none from here up to `#found`. */
  #from = 0;
  #found = -1;

  constructor(character: string) {
    this.#character = character;
  }

  reset(text: string): void {
    this.#text = text;
    this.#from = 0;
    this.#found = -1;
  }

  /** The length of the text where there is none. */
  from(index: number): number {
    if (this.#found < index) {
      const found = this.#text.indexOf(this.#character, index);
      this.#found = found === -1 ? this.#text.length : found;
      this.#from = index;
    } else if (index < this.#from) {
      const before = this.#text.slice(index, this.#from).indexOf(this.#character);
      if (before !== -1) this.#found = index + before;
      this.#from = index;
    }
    return this.#found;
  }
}

export class LineEnds {
  readonly #feeds = new Finder("\n");
  readonly #returns = new Finder("\r");
  #text = "";
  #codeBefore = -1;
  #counted = 0;

  /** @param codeBefore the character code before the text, to recognize a CRLF across texts */
  reset(text: string, codeBefore = -1): void {
    this.#text = text;
    this.#codeBefore = codeBefore;
    this.#counted = 0;
    this.#feeds.reset(text);
    this.#returns.reset(text);
  }

  /** The text is read once more from here. */
  rewind(index: number): void {
    this.#counted = index;
  }

  from(index: number): number {
    return Math.min(this.#feeds.from(index), this.#returns.from(index));
  }

  /** Line ends before `end` that were not counted yet. A CRLF counts at its CR. */
  count(end: number): number {
    let lines = 0;
    for (let at = this.from(this.#counted); at < end; at = this.from(at + 1)) {
      const before = at > 0 ? this.#text.charCodeAt(at - 1) : this.#codeBefore;
      if (this.#text.charCodeAt(at) !== lineFeed || before !== carriageReturn) lines += 1;
      this.#counted = at + 1;
    }
    return lines;
  }
}

/** As `trim` of strings. */
export function isSpace(code: number): boolean {
  if (code < 128) return code === 32 || (code >= 9 && code <= 13);
  return /\s/u.test(String.fromCharCode(code));
}
