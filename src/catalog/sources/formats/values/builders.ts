/** Magento's directives: `{{widget type="…"}}`, `{{media url="…"}}`, `{{/depend}}`. */
const directive =
  /\{\{\/?(?:widget|media|block|store|config|var|customvar|trans|skin|view|css|layout|template|depend|if|else|for|protocol)\b[^{}]*\}\}/giu;

/** A shortcode of WordPress: its end, or its name with what it is given. One in two pairs of brackets is text there. */
const shortcode = /(?<!\[)\[(\/?)([a-z][\w-]*)((?:\s[^[\]]*)?)(\/?)\](?!\])/giu;
/** Those that are written without an attribute or an end. */
const known: ReadonlySet<string> = new Set("gallery caption embed audio video playlist products".split(" "));
/** What is between these is no text, but a code or an address. */
const coded = /\[(vc_raw_html|vc_raw_js|fusion_code|embed|audio|video|playlist)(?:\s[^[\]]*)?\][^[\]]*\[\/\1\]/giu;
const attribute = /\s[\w-]+\s*=\s*(?:["'“”‘’″]|&(?:quot|#\d+);)/u;

/** A text without the code of page builders, which shops show as what it makes; `[M]` is text. */
export function withoutBuilders(text: string): string {
  const plain = text.includes("{{") ? text.replaceAll(directive, "") : text;
  if (!plain.includes("[")) return plain;
  const ended = new Set(Array.from(plain.matchAll(/\[\/([a-z][\w-]*)\]/giu), ([, name = ""]) => name.toLowerCase()));
  const isCode = (name: string, given: string, isEnd: boolean): boolean =>
    isEnd || ended.has(name.toLowerCase()) || known.has(name) || /^[a-z\d]+_/u.test(name) || attribute.test(given);
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

/** At most one between others. */
function withoutBlankLines(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line, at) => line !== "" || (at > 0 && lines[at - 1] !== "")).join("\n");
}
