import { attempt } from "./guard.js";

/**
 * What is kept in localStorage, or for a visit in sessionStorage: each text under its own key, so that concurrent tabs do not
 * overwrite each other's. Undefined where the browser refuses.
 */
export function storage<Result>(
  use: (texts: Record<string, string>) => Result,
  area: "localStorage" | "sessionStorage" = "localStorage",
): Result | undefined {
  return attempt(() => use(self[area] as Record<string, string>));
}

/** The key of an event, or of what is known of the viewer. */
export function keyOf(name: string): string {
  return `vitrine:${name}`;
}
