import { useCallback, useEffect, useState } from "preact/hooks";

/** The address of a show's page: it can be bookmarked, and the browser's back button works. */
export function addressOf(lsId: string): string {
  return `?${new URLSearchParams({ show: lsId }).toString()}`;
}

/** Takes the show out of the address. */
export function leaveSelection(): void {
  history.replaceState(null, "", location.pathname);
}

function selected(): string | undefined {
  return new URLSearchParams(location.search).get("show") ?? undefined;
}

/** The show that the address names, and how to go to another one; `replace` leaves no step to go back to. */
export function useSelection() {
  const [lsId, setId] = useState(selected);
  useEffect(() => {
    const read = () => setId(selected());
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  const select = useCallback((id: string, how: "push" | "replace" = "push") => {
    history[`${how}State`](null, "", addressOf(id));
    setId(id);
  }, []);
  return { lsId, select };
}
