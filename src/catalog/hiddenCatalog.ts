import { AppError } from "../errors.js";

const waitMs = 30_000;

interface Hidden {
  imports: number;
  readonly shown: Promise<void>;
  readonly show: () => void;
}

const hidden = new Map<string, Hidden>();

/** Blocks reads of a store's products during several transactions. */
export async function whileHidden<Result>(storeId: string, work: () => Promise<Result>): Promise<Result> {
  const entry = hidden.get(storeId) ?? hide();
  hidden.set(storeId, entry);
  entry.imports += 1;
  try {
    return await work();
  } finally {
    entry.imports -= 1;
    if (entry.imports === 0) {
      hidden.delete(storeId);
      entry.show();
    }
  }
}

function hide(): Hidden {
  let show = (): void => undefined;
  const shown = new Promise<void>((resolve) => (show = resolve));
  return { imports: 0, shown, show };
}

/** If defined, readers of the store's products must await it. @throws {AppError} UNAVAILABLE after half a minute */
export function catalogShown(storeId: string): Promise<void> | undefined {
  const entry = hidden.get(storeId);
  return entry && untilShown(entry);
}

async function untilShown({ shown }: Hidden): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = "A large import of this store is being stored. Try again in a few seconds.";
    timer = setTimeout(() => reject(new AppError("UNAVAILABLE", message, { retryAfterSeconds: 5 })), waitMs);
  });
  await Promise.race([shown, late]).finally(() => clearTimeout(timer));
}
