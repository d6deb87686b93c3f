import { attempt } from "./guard.js";

const prefix = "vitrine:";

/**
 * Texts are in localStorage, each under its own key, so that concurrent tabs do not overwrite each other's. Where the
 * browser refuses, nothing is stored.
 */
export function read(name: string): string | undefined {
  return attempt(() => localStorage.getItem(prefix + name) ?? undefined);
}

export function write(name: string, text: string): void {
  attempt(() => localStorage.setItem(prefix + name, text));
}

export function remove(name: string): void {
  attempt(() => localStorage.removeItem(prefix + name));
}

export function stored(): readonly string[] {
  const names = attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(prefix)));
  return (names ?? []).map((name) => name.slice(prefix.length));
}
