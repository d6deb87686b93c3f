import { type Fault, faultOf } from "../databaseErrors.js";
import type { OpenDatabase } from "../open.js";

interface Listener {
  /** Called once for each kind of fault until it is over. */
  failed(fault: Fault, error: unknown): void;
  recovered(fault: Fault): void;
}

/** How often the database is checked while there is a fault. A fault that no statement met for this long may be over. */
const checkEveryMs = 1_000;

/** Reports the faults with which statements fail. Checks the database only while there is a fault. */
export function watchFaults(
  { probe, readiness }: Pick<OpenDatabase, "probe" | "readiness">,
  listener: Listener,
): { stop(): void } {
  const seenAt = new Map<Fault, number>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const schedule = (): void => {
    if (!isStopped && seenAt.size > 0) timer ??= setTimeout(() => void check(), checkEveryMs).unref();
  };
  const check = async (): Promise<void> => {
    const found = await readiness.findFault().catch(() => "unreachable" as const);
    timer = undefined;
    const seenBefore = performance.now() - checkEveryMs;
    for (const [fault, at] of seenAt) {
      // The check may find another fault than the statements did, or miss theirs, such as a privilege that it does not know.
      if (found !== undefined || at > seenBefore) continue;
      seenAt.delete(fault);
      listener.recovered(fault);
    }
    schedule();
  };
  probe.onError = (error) => {
    const fault = faultOf(error);
    if (fault === undefined) return;
    if (!seenAt.has(fault)) listener.failed(fault, error);
    seenAt.set(fault, performance.now());
    schedule();
  };
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
