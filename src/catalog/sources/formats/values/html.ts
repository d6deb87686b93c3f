import { Tokenizer } from "htmlparser2";
import { withoutBuilders } from "./builders.js";
import { findTag, hiddenElements } from "./html.elements.js";
import { LineWriter } from "./html.lines.js";

const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/iu;
/** With a sign. Larger numbers are no places in a list. */
const startDigitsMax = 6;

/**
 * A line for each paragraph, item of a list and row of a table, in linear time; text that is not HTML stays as it is. Tags
 * need no pairs, so that the nesting of elements takes no memory. The code of page builders is no text.
 */
export function plainText(written: string): string {
  const text = withoutBuilders(written);
  return hasMarkup(text) ? new HtmlText(text).read() : text.trim();
}

function hasMarkup(text: string): boolean {
  if (!text.includes("<") && !text.includes("&")) return false;
  const tag = findTag(text);
  return (tag !== -1 && text.includes(">", tag)) || entity.test(text);
}

class HtmlText {
  readonly #writer = new LineWriter();
  /** The outermost open element that is not shown, and how many of its name are open. */
  #hidden = { name: "", depth: 0 };
  #tag = "";
  #attribute = "";
  #start = "";

  constructor(private readonly html: string) {}

  read(): string {
    const { html } = this;
    const ignore = (): void => undefined;
    const tokenizer = new Tokenizer(
      {},
      {
        ontext: (start, end) => this.#write(html.slice(start, end)),
        oncdata: (start, end, offset) => this.#write(html.slice(start, end - offset)),
        ontextentity: (codePoint) => this.#write(String.fromCodePoint(codePoint)),
        onopentagname: (start, end) => this.#beginTag(start, end),
        onattribname: (start, end) => (this.#attribute = this.#tag === "ol" ? this.#nameAt(start, end) : ""),
        onattribdata: (start, end) => this.#addToAttribute(start, end),
        onopentagend: () => this.#open(),
        onselfclosingtag: () => this.#openClosed(),
        onclosetag: (start, end) => this.#close(this.#nameAt(start, end)),
        onattribentity: ignore,
        onattribend: ignore,
        oncomment: ignore,
        ondeclaration: ignore,
        onprocessinginstruction: ignore,
        onend: ignore,
      },
    );
    tokenizer.write(html);
    tokenizer.end();
    return this.#writer.end();
  }

  #nameAt(start: number, end: number): string {
    return this.html.slice(start, end).toLowerCase();
  }

  #write(text: string): void {
    if (this.#hidden.depth === 0) this.#writer.write(text);
  }

  #beginTag(start: number, end: number): void {
    this.#tag = this.#nameAt(start, end);
    this.#start = "";
  }

  #addToAttribute(start: number, end: number): void {
    if (this.#attribute === "start") this.#start += this.html.slice(start, Math.min(end, start + startDigitsMax + 1));
  }

  #open(): void {
    const tag = this.#tag;
    if (this.#hidden.depth > 0) {
      if (tag === this.#hidden.name) this.#hidden.depth += 1;
    } else if (hiddenElements.has(tag)) this.#hidden = { name: tag, depth: 1 };
    else this.#writer.open(tag, firstNumber(this.#start));
  }

  /** `<svg/>` has no content; of other elements, the slash means nothing. */
  #openClosed(): void {
    this.#open();
    if (hiddenElements.has(this.#tag)) this.#close(this.#tag);
  }

  #close(tag: string): void {
    if (this.#hidden.depth === 0) return this.#writer.close(tag);
    if (tag === this.#hidden.name) this.#hidden.depth -= 1;
  }
}

function firstNumber(start: string): number {
  const digits = start.trim();
  return /^[+-]?\d+$/u.test(digits) && digits.length <= startDigitsMax ? Number(digits) : 1;
}
