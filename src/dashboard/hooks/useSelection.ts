import { useCallback, useEffect, useState } from "preact/hooks";

/** The address of a show's page. */
export function addressOf(lsId: string): string {
  return `?${new URLSearchParams({ show: lsId }).toString()}`;
}

/** Removes the show from the address. */
export function leaveSelection(): void {
  history.replaceState(null, "", location.pathname);
}

function selected(): string | undefined {
  return new URLSearchParams(location.search).get("show") ?? undefined;
}

/** The show in the address, and how to select another; `replace` adds no history entry. */
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
