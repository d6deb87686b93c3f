import { AppError } from "../../errors.js";

/** A lookup is trusted for 3 seconds, and revoked tokens must stop working within 5. */
const checkMs = 1_500;

type OnEnd = (error: AppError) => void;

/** Tells long requests when their token ends, with one timer and one lookup for all requests of a token. */
export class TokenEnds {
  readonly #byToken = new Map<string, { readonly listeners: Set<OnEnd>; readonly timer: NodeJS.Timeout }>();

  /**
   * @param check rejects with UNAUTHENTICATED once the token is invalid; after any other error it is called again
   * @param onEnd gets that error
   * @returns a function that stops watching
   */
  watch(tokenId: string, check: () => Promise<unknown>, onEnd: OnEnd): () => void {
    const { listeners } = this.#byToken.get(tokenId) ?? this.#begin(tokenId, check);
    listeners.add(onEnd);
    return () => {
      listeners.delete(onEnd);
      const known = this.#byToken.get(tokenId);
      if (known?.listeners !== listeners || listeners.size > 0) return;
      clearInterval(known.timer);
      this.#byToken.delete(tokenId);
    };
  }

  #begin(tokenId: string, check: () => Promise<unknown>) {
    const listeners = new Set<OnEnd>();
    const timer = setInterval(() => void tellIfEnded(listeners, check), checkMs);
    const begun = { listeners, timer };
    this.#byToken.set(tokenId, begun);
    return begun;
  }
}

async function tellIfEnded(listeners: ReadonlySet<OnEnd>, check: () => Promise<unknown>): Promise<void> {
  const current = [...listeners]; // later ones were authenticated later
  try {
    await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "UNAUTHENTICATED") return;
    for (const onEnd of current) onEnd(error);
  }
}
