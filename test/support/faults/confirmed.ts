import { setTimeout as sleep } from "node:timers/promises";
import type { TestStore } from "../app.js";
import { NoAnswerError } from "../call.js";
import type { Serving } from "../process.js";
import { paths, product } from "../products.js";

/** Imports products one after the other, and tells which were confirmed. */
export function writeNumbered(store: TestStore): { stop(): Promise<readonly string[]> } {
  const confirmed: string[] = [];
  const over = new AbortController();
  const done = (async () => {
    for (let number = 0; !over.signal.aborted; number += 1) {
      const answer = await store.post(paths.one, { product: product(`n${number}`) }).catch(unanswered);
      if (answer?.status === 200) confirmed.push(`n${number}`);
      await sleep(20); // the machine has other things to do
    }
  })();
  done.catch(() => undefined); // thrown by `stop`
  return {
    async stop() {
      over.abort();
      await done;
      return confirmed;
    },
  };
}

/** Of a server that has ended. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error;
}

/** Those of confirmed products that cannot be read. */
export async function missing(store: TestStore, ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map(async (id) => (await store.get(paths.of(id))).status));
  return ids.filter((_, index) => found[index] !== 200);
}

/** What `/readyz` says. */
export async function readiness({ url }: Serving): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
}
