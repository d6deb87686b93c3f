import { AppError } from "../../errors.js";

export interface Confirm {
  readonly tokenId: string;
  /** Rejects with UNAUTHENTICATED once the token is invalid. */
  readonly check: () => Promise<unknown>;
}

/** Revoked tokens must stop working within 5 seconds; a lookup is trusted for 3. */
const confirmMs = 1_500;

interface Failing {
  fail(error: unknown): void;
}

/** Ends a token's subscriptions once it is invalid, with one timer and one lookup for each token. */
export class Confirmations {
  readonly #byToken = new Map<string, { readonly watchers: Set<Failing>; readonly timer: NodeJS.Timeout }>();

  add(watcher: Failing, { tokenId, check }: Confirm): void {
    const known = this.#byToken.get(tokenId);
    if (known !== undefined) return void known.watchers.add(watcher);
    const watchers = new Set([watcher]);
    const timer = setInterval(() => void endUnlessConfirmed(watchers, check), confirmMs);
    this.#byToken.set(tokenId, { watchers, timer });
  }

  remove(watcher: Failing, { tokenId }: Confirm): void {
    const known = this.#byToken.get(tokenId);
    known?.watchers.delete(watcher);
    if (known?.watchers.size !== 0) return;
    clearInterval(known.timer);
    this.#byToken.delete(tokenId);
  }
}

async function endUnlessConfirmed(watchers: ReadonlySet<Failing>, check: Confirm["check"]): Promise<void> {
  const current = [...watchers]; // later ones were authenticated later
  try {
    await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "UNAUTHENTICATED") return; // checked again the next time
    for (const watcher of current) watcher.fail(error);
  }
}
