import { useEffect, useState } from "preact/hooks";
import { query } from "../api.js";
import { storeQuery } from "../operations.js";
import { Brand } from "./Elements.js";

interface Props {
  readonly token: string;
  readonly isListOpen: boolean;
  readonly onToggleList: () => void;
  readonly onSignOut: () => void;
}

/** Names the store. On small screens, it opens the list of shows. */
export function TopBar({ token, isListOpen, onToggleList, onSignOut }: Props) {
  const store = useStoreName(token);
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

/** Undefined until it is known; without it, the page works as well. */
function useStoreName(token: string): string | undefined {
  const [name, setName] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    const found = ({ store }: { store: { name: string } }) => setName(store.name);
    query(storeQuery, {}, { token, signal: leaving.signal }).then(found, () => undefined);
    return () => leaving.abort();
  }, [token]);
  return name;
}
