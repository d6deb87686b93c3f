import { expect } from "vitest";
import { createTestStore, type TestApp, type TestStore } from "./app.js";
import type { SentEvent } from "./oracle.js";
import { type ExpectedProblem, graphqlError } from "./problems.js";
import { saved } from "./shows.js";

/** A minute of viewing by one and the same viewer, and what else is given. */
export const view = (id: string, fields: Partial<SentEvent> = {}): SentEvent => ({
  id,
  type: "VIEW",
  channel: "LIVE",
  viewerId: "v1",
  seconds: 60,
  ...fields,
});

/** An order on LIVE, and what else is given. */
export const order = (id: string, amount: number, fields: Partial<SentEvent> = {}): SentEvent => ({
  id,
  type: "ORDER",
  channel: "LIVE",
  amount,
  ...fields,
});

/** A store with a show, and the id of the show. */
export async function storeWithShow(app: TestApp, status = "ENDED") {
  const store = await createTestStore(app);
  return { store, lsId: (await saved(store, { status })).id };
}

export function storedEvents(app: TestApp, { id: storeId }: TestStore): Promise<number> {
  return app.db.showEvent.count({ where: { storeId } });
}

/** What a batch answers that the rules of events refuse. */
export function refused(...errors: readonly ExpectedProblem[]) {
  const message = errors.length === 1 ? errors[0]?.message : `${errors.length} problems. Nothing was stored.`;
  return refusedWith(graphqlError("VALIDATION_FAILED", message ?? "", errors));
}

/** What a batch answers that is refused with this error. */
export function refusedWith(error: object) {
  return {
    errors: [{ ...error, path: ["recordShopperEvents"], locations: expect.any(Array) }],
    data: { recordShopperEvents: null },
  };
}
