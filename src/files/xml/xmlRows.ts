import sax, { type SAXParser } from "sax";
import { clip, withoutInvisibleEnds } from "../../lib/text.js";
import { invalidLine } from "../csv/csv.faults.js";
import { recordCharactersMax } from "../csv/records.js";
import { columnName } from "../formats/layout.js";
import { invisibleNote } from "../formats/notes.js";
import { ElementRow, type KeyReading, type RowEvent, type RowSource } from "../formats/rows/row.js";

/** RSS has items, Atom entries. */
const rowNames = new Set(["item", "entry"]);
const feedNames = new Set(["rss", "feed", "rdf"]);
const googleNamespace = "base.google.com/ns/";
const depthMax = 100;
/** In one item: Google takes a thousand details of a product, with four elements each. */
const elementsMax = 10_000;
/** In one element. */
const attributesMax = 100;
/** For Google's namespace, in one document. */
const prefixesMax = 20;

/** Texts in Google's namespace take precedence over others of the same name. */
interface Values {
  readonly own: string[];
  readonly other: string[];
}

interface Item {
  readonly line: number;
  /** Where its tag begins in the text. */
  readonly start: number;
  readonly depth: number;
  readonly values: Map<string, Values>;
  elements: number;
  characters: number;
  /** The line of a byte that is not UTF-8. */
  invalidLine: number | undefined;
}

/**
 * Rows of an XML feed (RSS 2.0, RSS 1.0 or Atom): each item with the texts of its elements by local name. Entities that a document
 * defines are not read, so that none can expand.
 */
export class XmlRows implements RowSource {
  readonly #parser = sax.parser(true, { position: true });
  readonly #prefixes = new Set(["g"]);
  readonly #path: string[] = [];
  #events: RowEvent[] = [];
  #item: Item | undefined;
  /** The element being read, with its text. */
  #element: { readonly name: string; readonly isOwn: boolean; text: string } | undefined;
  #attributes = 0;
  #lastLine = 0;
  #startLine = 1;
  #ended = false;

  /** @param reads the elements that are used; others are noted once */
  constructor(
    private readonly reads: ReadonlySet<string>,
    private readonly reading: KeyReading,
  ) {
    const handlers: Partial<SAXParser> = {
      onopentagstart: () => this.#beginTag(),
      onattribute: ({ name, value }) => this.#countAttribute(name, value),
      onopentag: ({ name, attributes }) => this.#open(name, attributes as Record<string, string>), // without `xmlns`
      onclosetag: () => this.#close(),
      ontext: (text) => this.#add(text),
      oncdata: (text) => this.#add(text),
      onerror: (error) => {
        throw error; // otherwise each further fault of the piece would be reported
      },
    };
    Object.assign(this.#parser, handlers);
  }

  get line(): number {
    return this.#parser.line + 1;
  }

  get rowLine(): number {
    return this.#item?.line ?? this.line;
  }

  get isInRow(): boolean {
    return this.#item !== undefined;
  }

  push(text: string): RowEvent[] {
    return this.#run(() => this.#parser.write(text));
  }

  end(): RowEvent[] {
    return this.#run(() => this.#parser.close());
  }

  #run(parse: () => void): RowEvent[] {
    if (this.#ended) return [];
    try {
      parse();
    } catch (error) {
      this.#fail(firstLine(error as Error));
    }
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #beginTag(): void {
    this.#startLine = this.#parser.line + 1;
    this.#attributes = 0;
  }

  #countAttribute(name: string, value: string): void {
    this.#attributes += 1;
    if (this.#attributes > attributesMax) throw new Error(`An element has more than ${attributesMax} attributes.`);
    this.#take(name + value);
  }

  #take(text: string): void {
    if (this.#item === undefined) return;
    if (!text.isWellFormed()) this.#item.invalidLine ??= this.line;
    this.#item.characters += text.length;
    if (this.#item.characters > recordCharactersMax) {
      throw new Error(`The item is longer than ${recordCharactersMax} characters.`);
    }
  }

  #open(tag: string, attributes: Readonly<Record<string, string>>): void {
    const { prefix, name } = named(tag);
    this.#learnPrefixes(attributes);
    if (Object.values(attributes).some((value) => value.includes("wordpress.org/export/"))) {
      throw new Error("It is an export of WordPress. Export products as CSV, from WooCommerce's list of products.");
    }
    if (this.#path.length === 0 && !feedNames.has(name)) {
      throw new Error(`A feed starts with <rss>, <feed> or <rdf:RDF>, not <${clip(tag)}>.`);
    }
    this.#path.push(tag);
    if (this.#path.length > depthMax) throw new Error(`Elements are nested more than ${depthMax} deep.`);
    if (this.#item === undefined) {
      if (rowNames.has(name)) this.#begin();
      return;
    }
    this.#item.elements += 1;
    if (this.#item.elements > elementsMax) throw new Error(`The item has more than ${elementsMax} elements.`);
    if (this.#path.length === this.#item.depth + 1) this.#beginElement(tag, prefix, name, attributes);
  }

  #begin(): void {
    this.#lastLine = Math.max(this.#startLine, this.#lastLine + 1); // distinguishes items on one line
    this.#item = {
      line: this.#lastLine,
      start: this.#parser.startTagPosition - 1,
      depth: this.#path.length,
      values: new Map(),
      elements: 0,
      characters: 0,
      invalidLine: undefined,
    };
  }

  #beginElement(tag: string, prefix: string, name: string, attributes: Readonly<Record<string, string>>): void {
    const isOwn = this.#prefixes.has(prefix);
    const isUsed = (isOwn || prefix === "") && this.reads.has(name);
    if (!isUsed) this.reading.notes.unusedColumn(tag);
    // Atom's links are attributes; those with another relation lead elsewhere.
    const isElsewhere = !["", "alternate"].includes(attributes["rel"] ?? "");
    if (isUsed && !isElsewhere) this.#element = { name, isOwn, text: attributes["href"] ?? "" };
  }

  #learnPrefixes(attributes: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (!name.startsWith("xmlns:") || !value.includes(googleNamespace)) continue;
      this.#prefixes.add(name.slice("xmlns:".length));
      if (this.#prefixes.size > prefixesMax) throw new Error("Google's namespace has too many prefixes.");
    }
  }

  #add(text: string): void {
    if (this.#item === undefined) return;
    this.#take(text);
    if (this.#element === undefined) return;
    // Text of nested elements does not count for the outer one, except for those that Google structures.
    const depth = this.#path.length - this.#item.depth;
    const isContent =
      depth === 2 && this.#element.name.startsWith("structured") && named(this.#path.at(-1) ?? "").name === "content";
    if (depth === 1 || isContent) this.#element.text += text;
  }

  #close(): void {
    const item = this.#item;
    const depth = this.#path.length;
    this.#path.pop();
    if (item === undefined) return;
    if (depth === item.depth + 1 && this.#element !== undefined) {
      const { name, isOwn, text } = this.#element;
      const values = item.values.get(name) ?? { own: [], other: [] };
      (isOwn ? values.own : values.other).push(text.trim());
      item.values.set(name, values);
      this.#element = undefined;
    } else if (depth === item.depth) {
      const elements = new Map(
        Array.from(item.values, ([name, { own, other }]) => {
          const texts = own.length > 0 ? own : other;
          return [name, this.reading.keys.has(name) ? this.#visible(texts, item.line) : texts] as const;
        }),
      );
      const span = { start: item.start, end: this.#parser.position };
      this.#events.push(
        item.invalidLine === undefined
          ? { row: new ElementRow(item.line, item.characters, elements), span }
          : { message: invalidLine(item.invalidLine, "UTF-8"), line: item.line, ends: false },
      );
      this.#item = undefined;
    }
  }

  #visible(keys: readonly string[], line: number): readonly string[] {
    const visible = keys.map(withoutInvisibleEnds);
    if (visible.some((key, at) => key !== keys[at])) this.reading.notes.count(invisibleNote, line);
    return visible;
  }

  #fail(message: string): void {
    this.#ended = true;
    const hint = message.startsWith("Invalid character in entity name") ? ". Write & as &amp;." : "";
    this.#events.push({ message: `The XML cannot be read: ${message}${hint}`, line: this.line, ends: true });
  }
}

/** The other lines of the message give the position within the whole text. */
function firstLine({ message }: Error): string {
  return message.split("\n", 1)[0] ?? "";
}

function named(tag: string): { prefix: string; name: string } {
  const at = tag.indexOf(":");
  return { prefix: tag.slice(0, Math.max(at, 0)), name: columnName(tag.slice(at + 1)) };
}
