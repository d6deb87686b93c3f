import { attempt } from "./guard.js";

/**
 * What is kept in localStorage: each text under its own key, so that concurrent tabs do not overwrite each other's. Undefined
 * where the browser refuses.
 */
export function storage<Result>(use: (texts: Record<string, string>) => Result): Result | undefined {
  return attempt(() => use(localStorage as Record<string, string>));
}

/** The key in localStorage of an event or of the viewer. */
export function keyOf(name: string): string {
  return `vitrine:${name}`;
}
