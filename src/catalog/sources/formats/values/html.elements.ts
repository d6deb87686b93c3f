/** Elements that begin and end a line (https://html.spec.whatwg.org/#flow-content-3, and those of lists and tables). */
export const lineElements: ReadonlySet<string> = new Set(
  `address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer
   form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary
   table tbody tfoot thead tr ul`.split(/\s+/u),
);

/** Elements whose content is not shown as text. */
export const hiddenElements: ReadonlySet<string> = new Set(
  "audio iframe noembed noframes script style svg template title video".split(" "),
);

/** The others of HTML, by which a text is recognized as such. */
const inlineElements =
  `a abbr acronym area b base bdi bdo big br button canvas cite code col colgroup data datalist del dfn em
  embed font head i img input ins kbd label link map mark meta meter noscript object output picture progress q rp rt ruby s samp
  select slot small source span strike strong sub sup td textarea th time track tt u var wbr`.split(/\s+/u);

const elements: ReadonlySet<string> = new Set([...lineElements, ...hiddenElements, ...inlineElements]);

/** Where the first tag of HTML, comment or document type begins, or -1: `<M>` and `a<b` are text. */
export function findTag(text: string): number {
  for (const { 1: name, index } of text.matchAll(/<(?:\/?([a-z][a-z\d]*)(?=[\s/>])|!--|!doctype)/giu)) {
    if (name === undefined || elements.has(name.toLowerCase())) return index;
  }
  return -1;
}
