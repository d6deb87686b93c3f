import { expect, test } from "vitest";
import { revokeToken } from "../../src/access/token.replace.js";
import { issueToken } from "../../src/access/token.js";
import { within } from "../support/busy.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { saved } from "../support/shows.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";

test.concurrent.each([
  ["is revoked", async (storeId: string, id: string) => void (await revokeToken(app.db, storeId, id))],
  [
    "expires",
    async (storeId: string, id: string) =>
      void (await app.db.accessToken.update({ where: { id, storeId }, data: { expiresAt: new Date() } })),
  ],
])("a stream ends within 5 seconds once its token %s, even if nothing changes in the show", async (_, end) => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const { id, token } = await issueToken(app.db, store.id);
  const values = subscribe(app, { token }, { query, variables: { lsId } }, AbortSignal.timeout(60_000));
  const lasting = subscribe(app, store, { query, variables: { lsId } }, AbortSignal.timeout(60_000));
  const value = { data: { liveStreamAnalytics: { id: lsId } } };
  expect((await values.next()).value).toEqual(value);
  expect((await lasting.next()).value).toEqual(value);
  await end(store.id, id);
  const endedAt = Date.now();
  const last = (await values.next()).value;
  expect(last.errors).toEqual([expect.objectContaining({ message: "The access token is not valid." })]);
  expect(last.errors[0].extensions.code).toBe("UNAUTHENTICATED");
  expect(await values.next()).toEqual({ value: undefined, done: true });
  expect(Date.now() - endedAt).toBeLessThan(within(5_500));
  await saved(store, { id: lsId, status: "LIVE", name: "Still on" });
  expect((await lasting.next()).value, "another token's stream goes on").toEqual(value);
});
