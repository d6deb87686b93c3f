/** A `<video>` or `<audio>`, or a player that has what they have, such as `<mux-player>`. */
export type Media = HTMLElement &
  Pick<HTMLMediaElement, "paused" | "ended" | "seeking" | "readyState"> &
  Partial<Pick<HTMLMediaElement, "playbackRate">>;

/** A player, what contains it, or a selector of either. */
export type Target = Element | string;

/** The media element of a target, also in open shadow roots and frames of the same origin. Undefined while there is none. */
export function mediaOf(target: Target | undefined): Media | undefined {
  const element = typeof target === "string" ? find(document, target) : target;
  if (!element || isMedia(element)) return element;
  return find(element, "video,audio") as Media | undefined;
}

/** Whether it is still a part of a page, and not of a frame that was removed. */
export function isInPage(media: Media | undefined): unknown {
  return media?.isConnected && media.ownerDocument.defaultView;
}

function find(root: ParentNode, selector: string): Element | undefined {
  const found = root.querySelector(selector);
  if (found) return found;
  for (const element of [root, ...root.querySelectorAll("*")] as Partial<HTMLIFrameElement>[]) {
    const inner = element.shadowRoot ?? element.contentDocument;
    const deeper = inner && find(inner, selector);
    if (deeper) return deeper;
  }
  return undefined;
}

/** By its properties: elements of frames have classes of their own, and players are none of `HTMLMediaElement`. */
function isMedia(element: Element): element is Media {
  return "paused" in element && "readyState" in element;
}
