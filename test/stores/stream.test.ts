import { expect, test } from "vitest";
import { revokeToken } from "../../src/stores/token.replace.js";
import { issueToken } from "../../src/stores/token.js";
import { stopTimers } from "../support/clock.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { saved } from "../support/shows.js";
import { subscribe } from "../support/http/subscribe.js";

const app = await openTestApp({ analyticsRateLimit: 0 });

const query = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";

test("a stream ends within 5 seconds once its token is revoked, even if nothing changes in the show", async () => {
  const store = await createTestStore(app);
  const { id: lsId } = await saved(store, { status: "LIVE" });
  const { id, token } = await issueToken(app.db, store.id);
  const timers = stopTimers();
  const leaving = new AbortController();
  const values = subscribe(app, { token }, { query, variables: { lsId } }, leaving.signal);
  const lasting = subscribe(app, store, { query, variables: { lsId } }, leaving.signal);
  const value = { data: { liveStreamAnalytics: { id: lsId } } };
  expect((await values.next()).value).toEqual(value);
  timers.pass(250); // from then on, another subscriber's first figures are read at once
  expect((await lasting.next()).value).toEqual(value);
  await revokeToken(app.db, store.id, id);
  await timers.run(5_000);
  const last = (await values.next()).value;
  expect(last.errors).toEqual([expect.objectContaining({ message: "The access token is not valid." })]);
  expect(last.errors[0].extensions.code).toBe("UNAUTHENTICATED");
  expect(await values.next()).toEqual({ value: undefined, done: true });
  await saved(store, { id: lsId, status: "LIVE", name: "Still on" });
  await timers.run(1_000); // changes are sent once a second
  expect((await lasting.next()).value, "another token's stream goes on").toEqual(value);
  leaving.abort();
});
