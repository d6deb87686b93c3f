import { must } from "./guard.js";

/** A `<video>` or `<audio>`, or a player that has what they have, such as `<mux-player>`. */
export type Media = HTMLElement &
  Pick<HTMLMediaElement, "paused" | "ended" | "seeking" | "readyState"> &
  Partial<Pick<HTMLMediaElement, "playbackRate">>;

/** A player, what contains it, or a selector of either. */
export type Target = Element | string;

/**
 * The media element of a target. Undefined while there is none.
 *
 * @param isDeep also in open shadow roots and frames of the same origin, which takes a look at every element of the page
 */
export function mediaOf(target: Target | undefined, isDeep: boolean): Media | null | undefined {
  const element = typeof target === "string" ? find(document, target, isDeep) : target;
  if (!element || isMedia(element)) return element;
  return find(element, "video,audio", isDeep) as Media | null | undefined;
}

/** Whether it is still a part of a page, and not of a frame that was removed. */
export function isInPage(media: Media | null | undefined): unknown {
  return media?.isConnected && media.ownerDocument.defaultView;
}

/** The selector, or that of an id which no selector can have as it is, such as `#1video`. @throws for anything else */
export function selectorOf(text: string): string {
  try {
    document.querySelector(text);
    return text;
  } catch {
    return `#${CSS.escape(must(/^#?(\w[\w.:-]*)$/u.exec(text))[1] as string)}`;
  }
}

function find(root: ParentNode, selector: string, isDeep: boolean): Element | null | undefined {
  const found = root.querySelector(selector);
  if (found || !isDeep) return found;
  for (const element of [root, ...root.querySelectorAll("*")] as Partial<HTMLIFrameElement>[]) {
    const inner = element.shadowRoot ?? element.contentDocument;
    const deeper = inner && find(inner, selector, true);
    if (deeper) return deeper;
  }
  return undefined;
}

/** By its properties: elements of frames have classes of their own, and players are none of `HTMLMediaElement`. */
function isMedia(element: Element): element is Media {
  return "paused" in element && "readyState" in element;
}
