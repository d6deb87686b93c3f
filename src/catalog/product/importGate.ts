import { AppError } from "../../errors.js";

const waitMs = 30_000;

interface Gate {
  imports: number;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

const closed = new Map<string, Gate>();

/** Blocks reads of a store's products during several transactions. */
export async function blockingReads<Result>(storeId: string, work: () => Promise<Result>): Promise<Result> {
  const gate = closed.get(storeId) ?? newGate();
  closed.set(storeId, gate);
  gate.imports += 1;
  try {
    return await work();
  } finally {
    gate.imports -= 1;
    if (gate.imports === 0) {
      closed.delete(storeId);
      gate.open();
    }
  }
}

function newGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { imports: 0, opened, open };
}

/** If defined, readers of the store's products must await it. @throws {AppError} UNAVAILABLE after half a minute */
export function readsUnblocked(storeId: string): Promise<void> | undefined {
  const gate = closed.get(storeId);
  return gate && untilOpened(gate);
}

async function untilOpened({ opened }: Gate): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = "A large import of this store is being stored. Try again in a few seconds.";
    timer = setTimeout(() => reject(new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 })), waitMs);
  });
  await Promise.race([opened, late]).finally(() => clearTimeout(timer));
}
