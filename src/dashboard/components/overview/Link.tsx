import type { ComponentChildren } from "preact";

interface Props {
  readonly query: string;
  readonly onFollow: () => void;
  readonly class?: string;
  readonly "aria-label"?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly children: ComponentChildren;
}

/** A link within the page; with a modifier key, it opens another tab or window, as any link does. */
export function Link({ query, onFollow, children, ...rest }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onFollow();
  };
  return (
    <a {...rest} href={query} onClick={follow}>
      {children}
    </a>
  );
}
