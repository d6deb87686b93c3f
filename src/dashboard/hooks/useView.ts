import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { initialState, type OverviewState, queryOf, readView, type View } from "../overview/view.js";

/** Whether an address is added to the history, or takes the place of the present one. */
export type HistoryMode = "push" | "replace";

/** Removes all that was chosen from the address. */
export function leaveView(): void {
  history.replaceState(null, "", location.pathname);
}

/** The view in the address, how to go to another, with or without leaving the place, and the overview as it was left. */
export function useView() {
  const [view, setView] = useState(() => readView(location.search));
  const left = useRef<OverviewState>(initialState);
  if (view.kind === "overview") left.current = view.state;
  useEffect(() => {
    const read = () => setView(readView(location.search));
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  const go = useCallback((next: View, how: HistoryMode = "push") => {
    const query = queryOf(next);
    history[`${how}State`](null, "", query === "?" ? location.pathname : query);
    setView(next);
  }, []);
  const follow = useCallback((next: View) => {
    go(next);
    leaveOldView();
  }, []);
  const overview: View = { kind: "overview", state: left.current };
  return { view, go, follow, overview };
}

/** What had the focus may be gone with the view that it was in. */
function leaveOldView(): void {
  const main = document.querySelector<HTMLElement>("#show");
  if (main?.contains(document.activeElement) === true) main.focus();
  scrollTo(0, 0);
}
