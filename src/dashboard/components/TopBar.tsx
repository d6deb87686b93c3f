import { queryOf, type View } from "../overview/view.js";
import { Brand } from "./Elements.js";
import { Link } from "./overview/Link.js";

interface Props {
  /** Undefined until it is known. */
  readonly store: string | undefined;
  readonly overview: View;
  readonly isOverview: boolean;
  readonly onView: (view: View) => void;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  readonly onSignOut: () => void;
}

/** Names the store, and leads to the overview. On small screens, it opens the list of shows. */
export function TopBar({ store, overview, isOverview, onView, isListOpen, onToggleList, onSignOut }: Props) {
  return (
    <header class="top">
      <div class="where">
        <Link
          query={queryOf(overview)}
          onFollow={() => onView(overview)}
          class="home"
          aria-label="Vitrine: overview"
          aria-current={isOverview ? "page" : undefined}
        >
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
