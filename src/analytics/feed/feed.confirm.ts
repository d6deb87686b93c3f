import { AppError } from "../../errors.js";

/** By whose token somebody watches, and how to ask whether it still holds. */
export interface Confirm {
  readonly tokenId: string;
  /** Rejects with UNAUTHENTICATED once it does not. */
  readonly ask: () => Promise<unknown>;
}

/** A revoked token must stop working within 5 seconds, and tokens are trusted for 3; asking takes time, too. */
const confirmMs = 1_500;

interface Failing {
  fail(error: unknown): void;
}

/** Ends all who watch by a token once it holds no more, with one timer and one question for each token. */
export class Confirmations {
  readonly #byToken = new Map<string, { readonly watchers: Set<Failing>; readonly timer: NodeJS.Timeout }>();

  add(watcher: Failing, { tokenId, ask }: Confirm): void {
    const known = this.#byToken.get(tokenId);
    if (known !== undefined) return void known.watchers.add(watcher);
    const watchers = new Set([watcher]);
    const timer = setInterval(() => void endUnlessConfirmed(watchers, ask), confirmMs);
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

async function endUnlessConfirmed(watchers: ReadonlySet<Failing>, ask: Confirm["ask"]): Promise<void> {
  const asked = [...watchers]; // who comes meanwhile was identified later
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "UNAUTHENTICATED") return; // asked again the next time
    for (const watcher of asked) watcher.fail(error);
  }
}
