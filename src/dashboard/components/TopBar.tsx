import { Brand } from "./Elements.js";

interface Props {
  /** Undefined until it is known. */
  readonly store: string | undefined;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  readonly onSignOut: () => void;
}

/** Names the store. On small screens, it opens the list of shows. */
export function TopBar({ store, isListOpen, onToggleList, onSignOut }: Props) {
  return (
    <header class="top">
      <div class="where">
        <Brand />
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
