import type { ComponentChildren, RefObject } from "preact";
import { queryOf, type View } from "../overview/view.js";

interface Props {
  readonly view: View;
  readonly onFollow: (view: View) => void;
  readonly anchor?: RefObject<HTMLAnchorElement | null>;
  readonly class?: string;
  readonly dir?: "auto";
  readonly "aria-label"?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ComponentChildren;
}

/** A link to another view; with a modifier key, it opens another tab or window, as any link does. */
export function Link({ view, onFollow, anchor, ...rest }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onFollow(view);
  };
  return <a {...rest} {...(anchor && { ref: anchor })} href={queryOf(view)} onClick={follow} />;
}
