import { must } from "./guard.js";

/** A `<video>` or `<audio>`, or a player with the same properties, such as `<mux-player>`. */
export type Media = HTMLElement &
  Pick<HTMLMediaElement, "paused" | "ended" | "seeking" | "readyState"> &
  Partial<Pick<HTMLMediaElement, "playbackRate">>;

/** A player, an element that contains one, or a selector of either. */
export type Target = Element | string;

/**
 * The media element of a target. Undefined or null if there is none yet.
 *
 * @param isDeep whether to search open shadow roots and frames of the same origin, which looks at every element of the page
 */
export function mediaOf(target: Target | undefined, isDeep: boolean): Media | null | undefined {
  const element = typeof target === "string" ? find(document, target, isDeep) : target;
  if (!element || isMedia(element)) return element;
  return find(element, "video,audio", isDeep) as Media | null | undefined;
}

/** Whether it is still part of a page. Elements of removed frames are not. */
export function isInPage(media: Media | null | undefined): unknown {
  return media?.isConnected && media.ownerDocument.defaultView;
}

/** The selector. Escapes an id that is not a valid selector, such as `#1video`. @throws for anything else */
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

/** Checks properties, because frames have their own classes, and players are not instances of `HTMLMediaElement`. */
function isMedia(element: Element): element is Media {
  return "paused" in element && "readyState" in element;
}
