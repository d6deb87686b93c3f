import { Tokenizer } from "htmlparser2";

/** Magento's directives: `{{widget type="…"}}`, `{{media url="…"}}`, `{{/depend}}`. */
const directive =
  /\{\{\s*\/?(?:widget|media|block|store|config|var|customvar|trans|skin|view|css|layout|template|depend|if|else|for|protocol)\b[^{}]*\}\}/giu;

/** A shortcode of WordPress: its end, or its name with attributes. In WordPress, one in double brackets is text. */
const shortcode = /(?<!\[)\[(\/?)([a-z][\w-]*)((?:\s[^[\]]*)?)(\/?)\](?!\])/giu;

/** Shortcodes that need neither attributes nor an end. */
const known: ReadonlySet<string> = new Set("gallery caption embed audio video playlist products".split(" "));

/** Between these is code or an address, and not text. */
const coded = /\[(vc_raw_html|vc_raw_js|fusion_code|embed|audio|video|playlist)(?:\s[^[\]]*)?\][^[\]]*\[\/\1\]/giu;

/** What a player of videos is given: `[youtube https://…]`. */
const address = /^\s+https?:\/\//iu;
const attribute = /\s[\w-]+\s*=\s*(?:["'“”‘’″]|&(?:quot|#\d+);)/u;

/** Elements that begin and end a line (https://html.spec.whatwg.org/#flow-content-3, lists and tables). */
const lineElements: ReadonlySet<string> = new Set(
  `address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
   form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary
   table tbody tfoot thead tr ul`.split(/\s+/u),
);

/** Elements whose content is not shown as text. */
const hiddenElements: ReadonlySet<string> = new Set(
  "audio iframe noembed noframes script style svg template title video".split(" "),
);

/** HTML's other elements, which help to recognize a text as HTML. */
const inlineElements =
  `a abbr acronym area b base bdi bdo big br button canvas cite code col colgroup data datalist del dfn em
  embed font head i img input ins kbd label link map mark meta meter noscript object output picture progress q rp rt ruby s samp
  select slot small source span strike strong sub sup td textarea th time track tt u var wbr`.split(/\s+/u);

const elements: ReadonlySet<string> = new Set([...lineElements, ...hiddenElements, ...inlineElements]);

/** Two line breaks make one empty line; more would not help a reader. */
const breaksMax = 2;

const whiteSpace = /[ \t\n\f\r\u{a0}]+/gu;

const cells = new Set(["td", "th"]);

/** Writes the content of elements as lines. Collapses white space, and marks items of lists with a dash or their number. */
class LineWriter {
  #text = "";
  /** Not written yet, because the parser hands out texts in small parts. */
  #pending = "";
  /** Line breaks before the next text. */
  #breaks = 0;
  #hasSpace = false;
  /** Written with the next text, so that items without text are dropped. */
  #marker = "";
  /** The next number of each open list, innermost last; undefined if items have a dash. */
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

const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/iu;
/** Including the sign. Larger numbers are not places in a list. */
const startDigitsMax = 6;

/**
 * Turns HTML into a line for each paragraph, item of a list and row of a table, in linear time, without the code of page builders.
 * Text that is not HTML is returned unchanged. Tags need no pairs, so nested elements take no memory.
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
  /** The outermost open hidden element, and how many of its name are open. */
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
    else this.#writer.open(tag, listStart(this.#start));
  }

  /** `<svg/>` has no content; for other elements, the slash means nothing. */
  #openClosed(): void {
    this.#open();
    if (hiddenElements.has(this.#tag)) this.#close(this.#tag);
  }

  #close(tag: string): void {
    if (this.#hidden.depth === 0) return this.#writer.close(tag);
    if (tag === this.#hidden.name) this.#hidden.depth -= 1;
  }
}

function listStart(start: string): number {
  const digits = start.trim();
  return /^[+-]?\d+$/u.test(digits) && digits.length <= startDigitsMax ? Number(digits) : 1;
}

/** Where the first tag of HTML, comment or document type begins, or -1: `<M>` and `a<b` are text. */
function findTag(text: string): number {
  for (const { 1: name, index } of text.matchAll(/<(?:\/?([a-z][a-z\d]*)(?=[\s/>])|!--|!doctype)/giu)) {
    if (name === undefined || elements.has(name.toLowerCase())) return index;
  }
  return -1;
}

/** Removes the code of page builders, which shops never show as text; `[M]` is text. */
function withoutBuilders(text: string): string {
  const plain = text.includes("{{") ? text.replaceAll(directive, "") : text;
  if (!plain.includes("[")) return plain;
  const ended = new Set(Array.from(plain.matchAll(/\[\/([a-z][\w-]*)\]/giu), ([, name = ""]) => name.toLowerCase()));
  const isCode = (name: string, given: string, isEnd: boolean): boolean =>
    isEnd ||
    ended.has(name.toLowerCase()) ||
    known.has(name) ||
    /^[a-z\d]+_/u.test(name) ||
    attribute.test(given) ||
    address.test(given);
  let isFound = false;
  const found = plain
    .replaceAll(coded, "")
    .replaceAll(shortcode, (code: string, slash: string, name: string, given: string, end: string) => {
      if (!isCode(name, given, slash !== "" || end !== "")) return code;
      isFound = true;
      return name.includes("_") ? "\n" : "";
    });
  return isFound ? withoutBlankLines(found) : found;
}

/** Keeps at most one blank line between others. */
function withoutBlankLines(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line, at) => line !== "" || (at > 0 && lines[at - 1] !== "")).join("\n");
}
