import { compile } from "html-to-text";

const headings = ["h1", "h2", "h3", "h4", "h5", "h6"];

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: 100, ellipsis: "…" }, // deeper ones would exhaust the stack
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    ...["img", "script", "style", "iframe", "video"].map((selector) => ({ selector, format: "skip" })),
    { selector: "ul", options: { itemPrefix: "- ", leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "ol", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "p", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ...headings.map((selector) => ({
      selector,
      options: { uppercase: false, leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
  ],
});

const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,30});/iu;

/** Longer texts are no descriptions; if nested deeply, they would take seconds. */
const charactersMax = 256 * 1024;

/** A line for each paragraph and list item; text that is not HTML stays as it is. */
export function plainText(text: string): string {
  if (text.length > charactersMax || !hasMarkup(text)) return text.trim();
  return convert(text).replaceAll("\u{a0}", " ").replaceAll(/^ +/gmu, "").trim();
}

function hasMarkup(text: string): boolean {
  const tag = text.search(/<[a-z!/]/iu);
  return (tag !== -1 && text.includes(">", tag)) || entity.test(text);
}
