import { lineElements } from "./html.elements.js";

/** Two line breaks are one empty line; more would be no help to a reader. */
const breaksMax = 2;
const whiteSpace = /[ \t\n\f\r\u{a0}]+/gu;
const cells = new Set(["td", "th"]);

/** Writes what elements contain as lines: white space is collapsed, items of lists get a dash or their number. */
export class LineWriter {
  #text = "";
  /** Not written yet: the parser hands out texts in small parts. */
  #pending = "";
  /** What separates the next text from what is written. */
  #breaks = 0;
  #hasSpace = false;
  /** Written before the next text: an item without text is none. */
  #marker = "";
  /** The next number of each open list, innermost last; undefined where items have a dash. */
  readonly #lists: { next: number | undefined }[] = [];
  #preformatted = 0;

  open(tag: string, firstNumber: number): void {
    this.#flush();
    if (tag === "br") this.#breaks = Math.min(breaksMax, this.#breaks + 1);
    else if (cells.has(tag)) this.#hasSpace = true;
    else if (lineElements.has(tag)) this.#begin(tag, firstNumber);
  }

  close(tag: string): void {
    this.#flush();
    if (lineElements.has(tag)) this.#break();
    if (tag === "ol" || tag === "ul") this.#lists.pop();
    if (tag === "pre") this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (tag === "li") this.#marker = "";
  }

  write(text: string): void {
    this.#pending += text;
  }

  /** All lines. Nothing can be written afterwards. */
  end(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    const text = this.#pending;
    if (text === "") return;
    this.#pending = "";
    if (this.#preformatted === 0) return this.#writeOnLine(text);
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#writeOnLine(text.slice(from, end));
      this.#breaks = Math.min(breaksMax, this.#breaks + 1);
      from = end + 1;
    }
    this.#writeOnLine(text.slice(from));
  }

  #begin(tag: string, firstNumber: number): void {
    this.#break();
    if (tag === "ol") this.#lists.push({ next: firstNumber });
    else if (tag === "ul") this.#lists.push({ next: undefined });
    else if (tag === "pre") this.#preformatted += 1;
    else if (tag === "li") this.#marker = this.#nextMarker();
  }

  #nextMarker(): string {
    const list = this.#lists.at(-1);
    if (list?.next === undefined) return "- ";
    list.next += 1;
    return `${list.next - 1}. `;
  }

  #break(): void {
    this.#breaks = Math.max(1, this.#breaks);
  }

  #writeOnLine(text: string): void {
    const collapsed = text.replaceAll(whiteSpace, " ");
    const words = collapsed.trim();
    if (words === "") {
      this.#hasSpace ||= collapsed !== "";
      return;
    }
    this.#separate(this.#hasSpace || collapsed.startsWith(" "));
    this.#text += this.#marker + words;
    this.#marker = "";
    this.#hasSpace = collapsed.endsWith(" ");
  }

  #separate(hasSpace: boolean): void {
    if (this.#text !== "") this.#text += this.#breaks > 0 ? "\n".repeat(this.#breaks) : hasSpace ? " " : "";
    this.#breaks = 0;
  }
}
