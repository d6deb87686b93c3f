import type { Look } from "./clock.js";
import { idOf, newId } from "./guard.js";
import type { TrackedEvent } from "./outbox.js";
import { keyOf, storage } from "./storage.js";

/** What all shows in a page share: the viewer, where they came from, and the clocks. */
export interface Page {
  readonly clocks: Look[];
  /** The viewer's id in the next events. If storing is allowed, `vitrine:viewer` has it, too. */
  readonly id: () => string;
  /** Sets the shop's own id of the shopper. */
  identify(id: string): void;
  /** Says whether we may store something in the browser. */
  keep(isAllowed: boolean): void;
  /** Returns once the id that earlier events had, because the shop may identify the shopper late. */
  take(): string | undefined;
  /** The viewer, the device if the User-Agent hides it, and the source of the visit: a campaign's name, or a host. */
  sender(): Pick<TrackedEvent, "viewerId" | "device" | "source">;
}

const viewerKey = keyOf("viewer");
const formerKey = keyOf("former");
const sourceKey = keyOf("source");

export function createPage(): Page {
  let own = newId();
  let isIdentified = false;
  let isKept = false;
  /** The id in this page's events so far. */
  let used: string | undefined;
  let former: string | undefined;
  // The User-Agent of iPads is that of a desktop computer.
  const device = navigator.maxTouchPoints > 1 && /Macintosh/u.test(navigator.userAgent) ? "tablet" : undefined;
  const campaign = new URLSearchParams(location.search).get("utm_source");
  const host = document.referrer.split("/")[2];
  let source = campaign || (host !== location.host && host) || undefined;

  const stored = (key: string): string | undefined => (isKept ? storage((texts) => idOf(texts[key])) : undefined);
  const become = (next: string): void => {
    // Ignore an id that was made for this page and that no event has yet.
    former = [stored(viewerKey), used].find((id) => id && id !== next && (id !== own || used)) ?? former;
    own = next;
    if (isKept)
      storage((texts) => {
        texts[viewerKey] = next;
        if (former) texts[formerKey] = former;
      });
  };
  const id = (): string => (used = stored(viewerKey) ?? own);
  return {
    clocks: [],
    id,
    identify(given) {
      isIdentified = true;
      become(given);
    },
    keep(isAllowed) {
      if (isKept && !isAllowed) {
        if (!isIdentified) own = newId();
        used = former = undefined;
      }
      isKept = isAllowed;
      if (isKept) become((!isIdentified && stored(viewerKey)) || own);
      else storage((texts) => delete texts[sourceKey], "sessionStorage");
    },
    take() {
      const taken = stored(formerKey) ?? former;
      former = undefined;
      storage((texts) => delete texts[formerKey]);
      return taken;
    },
    sender() {
      if (isKept)
        storage(
          (texts) => (source = campaign || texts[sourceKey] || source) && (texts[sourceKey] = source),
          "sessionStorage",
        );
      return { viewerId: id(), device, source };
    },
  };
}
