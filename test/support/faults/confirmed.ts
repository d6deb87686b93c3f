import type { TestStore } from "../app.js";
import { NoAnswerError } from "../call.js";
import { paths, product } from "../products.js";

export interface NumberedImports {
  /** Imports the next product. */
  next(): Promise<void>;
  /** Those of confirmed products that cannot be read, of the same store or another server of it. */
  missing(at?: TestStore): Promise<readonly string[]>;
}

/** Imports products one by one, and knows which were confirmed. */
export function numberedImports(store: TestStore): NumberedImports {
  const confirmed: string[] = [];
  let number = 0;
  return {
    async next() {
      const id = `n${number++}`;
      const answer = await store.post(paths.one, { product: product(id) }).catch(unanswered);
      if (answer?.status === 200) confirmed.push(id);
    },
    async missing(at = store) {
      const found = await Promise.all(confirmed.map(async (id) => (await at.get(paths.of(id))).status));
      return confirmed.filter((_, index) => found[index] !== 200);
    },
  };
}

/** Of a server that has ended. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof NoAnswerError)) throw error;
}

/** What `/readyz` says. */
export async function readiness({ url }: { readonly url: string }): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
}
