import type { View } from "../overview/view.js";
import { Brand } from "./Elements.js";
import { Link } from "./Link.js";

interface Props {
  /** Undefined until it is known. */
  readonly store: string | undefined;
  readonly overview: View;
  readonly isOverview: boolean;
  readonly onFollow: (view: View) => void;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  readonly onSignOut: () => void;
}

/** Names the store, and leads to the overview. On small screens, it opens the list of shows. */
export function TopBar({ store, overview, isOverview, onFollow, isListOpen, onToggleList, onSignOut }: Props) {
  const current = isOverview ? "page" : undefined;
  return (
    <header class="top">
      <div class="where">
        <Link view={overview} onFollow={onFollow} class="home" aria-label="Vitrine: overview" aria-current={current}>
          <Brand />
        </Link>
        <p class="store" dir="auto" title={store}>
          {store}
        </p>
      </div>
      <button class="list-toggle" type="button" aria-expanded={isListOpen} aria-controls="shows" onClick={onToggleList}>
        Shows
      </button>
      <button type="button" onClick={onSignOut}>
        Sign out
      </button>
    </header>
  );
}
