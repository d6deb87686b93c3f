import { pino } from "pino";
import { expect, test } from "vitest";
import { createApp } from "../../../src/app.js";
import { withApp } from "../../../src/cli/serve/run.js";
import { readConfig } from "../../../src/config.js";
import { createTestStore, openConnections } from "../../support/app.js";
import { subscribe } from "../../support/http/subscribe.js";
import { saved } from "../../support/shows.js";

test("a server that stops cuts open subscriptions, and does not wait for the end of its grace period", async () => {
  const database = openConnections();
  const config = readConfig({ PORT: "0", SHUTDOWN_GRACE_MS: "3600000" });
  const create = () => createApp(config, database, pino({ level: "silent" }));
  let end: Promise<unknown> | undefined;
  await withApp(config, create, async ({ url, open }) => {
    open();
    const store = await createTestStore({ url, db: database.client });
    const { id } = await saved(store);
    const query = `subscription { liveStreamAnalytics(lsId: "${id}") { id } }`;
    const values = subscribe({ url }, store, { query, variables: {} }, new AbortController().signal);
    expect((await values.next()).value).toEqual({ data: { liveStreamAnalytics: { id } } });
    end = values.next().catch(({ message }: Error) => message);
  });
  expect(await end).toBe("terminated");
});
