import { attempt } from "./guard.js";

/**
 * Uses localStorage or, for one visit, sessionStorage. Each text has its own key, so that concurrent tabs do not overwrite each other's
 * texts. Undefined if the browser refuses.
 */
export function storage<Result>(
  use: (texts: Record<string, string>) => Result,
  area: "localStorage" | "sessionStorage" = "localStorage",
): Result | undefined {
  return attempt(() => use(self[area] as Record<string, string>));
}

/** The key of an event, or of a fact about the viewer. */
export function keyOf(name: string): string {
  return `vitrine:${name}`;
}
