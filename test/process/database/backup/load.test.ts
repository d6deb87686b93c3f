// @tier long
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../../../src/stores/publicKey.js";
import { addSite } from "../../../../src/stores/site.js";
import { findHolder } from "../../../../src/database/embedded/folder.js";
import { connect, embeddedConnection } from "../../../../src/database/open.js";
import { createTestStore, storeAt } from "../../../support/app.js";
import { ofTest } from "../../../support/citus/recording.js";
import { expectFigures, figuresFrom, storedIds, tallyOf } from "../../../support/faults/crash.check.js";
import { replacedSite, type Sent, startLoad } from "../../../support/faults/crash.load.js";
import { someEvents } from "../../../support/figures.js";
import { type Place, placeForTest, placeWithStoreForTest, serve, vitrineJson } from "../../../support/process.js";
import { seeded } from "../../../support/faults/random.js";
import { saved } from "../../../support/shows.js";

async function served(place: Place) {
  const limits = { LOG_LEVEL: "warn", ANALYTICS_RATE_LIMIT: "0", COLLECT_RATE_LIMIT: "0" };
  const server = await serve({ ...place.env, ...limits });
  const { socketFolder = "" } = (await findHolder(place.dataDir)) ?? {};
  const database = connect(embeddedConnection(socketFolder), () => undefined);
  onTestFinished(async () => {
    await database.close();
    await server.stop("SIGKILL");
  });
  return { server, db: database.client };
}

test("a backup under load, with checkpoints meanwhile, has all that was answered before it began; each request in whole or not at all, and figures as the events give them", async () => {
  const place = await placeWithStoreForTest();
  const { server, db } = await served(place);
  const store = await createTestStore({ url: server.url, db });
  await addSite(db, store.id, replacedSite, "shop");
  const { key } = await issueKey(db, store.id, { origins: ["https://shop.example"] });
  const { id: lsId } = await saved(store);
  const events = someEvents(6_000);
  const load = startLoad({ store, lsId, key, name: "load", events }, seeded(7));
  await load.answered(12);
  const atWork = new AbortController();
  const checkpoints = (async () => {
    for (; !atWork.signal.aborted; await sleep(100)) await db.$executeRawUnsafe(ofTest("CHECKPOINT"));
  })();
  const isAnswered = ({ outcome }: { outcome: string }) => outcome === "answered";
  const [batches, writes] = [
    load.sent.batches.filter(isAnswered),
    load.sent.sets.flatMap((set) => set.writes).filter(isAnswered),
  ];
  const file = join(place.temporary, "vitrine.backup");
  await vitrineJson(["backup", file], place.env);
  atWork.abort();
  await checkpoints;
  await server.stop("SIGKILL");
  await load.ended;

  const copy = await placeForTest();
  await vitrineJson(["restore", file], copy.env);
  const restored = await served(copy);
  // What was answered after the backup had begun may be in it or not.
  const outcomeOf = <Item>(list: readonly Item[], item: Item) => (list.includes(item) ? "answered" : "unanswered");
  const sent: Sent = {
    sets: load.sent.sets.map((set) => ({
      ...set,
      writes: set.writes.map((write) => ({ ...write, outcome: outcomeOf(writes, write) })),
    })),
    batches: load.sent.batches.map((batch) => ({ ...batch, outcome: outcomeOf(batches, batch) })),
  };
  const tally = await tallyOf(restored.db, store.id, lsId, sent);
  expect(tally).toMatchObject({ half: 0, lost: 0 });
  expect(tally.answered).toBeGreaterThanOrEqual(12);
  const stored = new Set(await storedIds(restored.db, store.id, lsId));
  const figures = figuresFrom(events.filter(({ id }) => stored.has(id)));
  await expectFigures(storeAt(restored.server.url, store), lsId, figures);
});
