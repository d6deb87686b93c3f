import type { RootDatabase } from "../../database/client.js";
import { forStore } from "../../database/shares/forStore.js";
import { type KnownHook, noteFault } from "./hook.js";

/** How often refused deliveries are written. */
const writtenEachMs = 10_000;

/** Why a delivery is refused before it is read, and what to do about it. */
const reasons = {
  UNAUTHENTICATED: "It is not signed with the secret of this hook: enter that in the shop.",
  PAYLOAD_TOO_LARGE: "It has more than 4 MiB.",
  UNSUPPORTED_MEDIA_TYPE: "It is compressed: have what stands between the shop and Vitrine pass it on as it is.",
} as const;

export type Refused = keyof typeof reasons;

export function isRefusal(code: string): code is Refused {
  return Object.hasOwn(reasons, code);
}

/** Counts a delivery that was refused before it was read. */
export type NoteRefused = (hook: KnownHook, code: Refused) => void;

/**
 * Keeps counts in memory, and writes them every ten seconds: nobody without a hook's secret writes to the database with each request.
 * There are as many at most as hooks that are known. What is not written yet when the process ends is lost.
 */
export function createNoteRefused(db: RootDatabase): NoteRefused {
  const counts = new Map<string, { hook: KnownHook; code: Refused; count: number }>();
  const write = async (): Promise<void> => {
    const all = [...counts.values()];
    counts.clear();
    for (const { hook, code, count } of all) {
      await noteFault(forStore(db, hook.storeId), hook, reasons[code], count).catch(() => undefined); // it is not money
    }
  };
  return (hook, code) => {
    if (counts.size === 0) setTimeout(() => void write(), writtenEachMs).unref();
    const key = `${hook.id} ${code}`;
    const { count } = counts.get(key) ?? { count: 0 };
    counts.set(key, { hook, code, count: count + 1 });
  };
}
