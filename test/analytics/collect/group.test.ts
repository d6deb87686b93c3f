import { afterAll, beforeAll, expect, test } from "vitest";
import { issueKey } from "../../../src/access/key.js";
import { readAnswer, startApp, type TestApp, testDatabase } from "../../support/app.js";
import { storedEvents, storeWithShow } from "../../support/events.js";

const statements: string[] = [];
let app: TestApp;
beforeAll(async () => {
  const database = testDatabase((sql) => statements.push(sql));
  app = await startApp({ analyticsRateLimit: 0, collectRateLimit: 0 }, database);
});
afterAll(() => app.close());

async function shop() {
  const { store, lsId: show } = await storeWithShow(app);
  const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
  return { store, key, show };
}

async function collect({ key, show }: { readonly key: string; readonly show: string }, events: readonly object[]) {
  const body = JSON.stringify({ key, show, channel: "LIVE", viewer: "v", events });
  return readAnswer(await fetch(`${app.url}/collect/v1`, { method: "POST", body }));
}

const view = (id: string, fields: object = {}) => ({ id, type: "VIEW", seconds: 1, ...fields });
const recorded = () => statements.filter((sql) => sql.includes(`INSERT INTO "ShowEvent"`)).length;

test("requests for one show that come together are stored by fewer statements, each answered with its own counts", async () => {
  const made = await shop();
  await collect(made, [view("known")]);
  const before = recorded();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      collect(made, [view(`e${index}`), view("known"), ...(index % 2 === 0 ? [view("shared")] : [])]),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  expect(recorded() - before).toBeLessThan(40);
  // Each has its own event; the known one is a duplicate in all, and the shared one is new in exactly one.
  const extra = answers.map(({ body }, index) => {
    expect(body.accepted + body.duplicates).toBe(index % 2 === 0 ? 3 : 2);
    return body.accepted - 1;
  });
  expect(extra.filter((one) => one === 1)).toHaveLength(1);
  expect(extra.filter((one) => one === 0)).toHaveLength(59);
  expect(await storedEvents(app, made.store)).toBe(62);
});

test("one that is refused fails alone", async () => {
  const made = await shop();
  const longAgo = view("old", { occurredAt: "2001-01-01T00:00:00Z" });
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      collect(made, [view(`e${index}`), ...(index % 10 === 3 ? [longAgo] : [])]),
    ),
  );
  for (const [index, { status, body }] of answers.entries()) {
    if (index % 10 === 3) expect([status, body.errors[0].path]).toEqual([400, ["events", 1, "occurredAt"]]);
    else expect([status, body]).toEqual([202, { accepted: 1, duplicates: 0 }]);
  }
  expect(await storedEvents(app, made.store)).toBe(27);
});

test("requests for shows that there are not, and for those of others, do not disturb each other", async () => {
  const [one, other] = [await shop(), await shop()];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      collect(index % 2 === 0 ? one : { ...other, show: index % 4 === 1 ? "nowhere" : other.show }, [
        view(`e${index}`),
      ]),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, index) => (index % 4 === 1 ? 404 : 202)));
  expect([await storedEvents(app, one.store), await storedEvents(app, other.store)]).toEqual([10, 5]);
});
