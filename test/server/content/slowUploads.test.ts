import { expect, onTestFinished, test } from "vitest";
import { createTestStore, openTestApp, type TestApp, type TestStore } from "../../support/app.js";
import { stopTimers } from "../../support/clock.js";
import { toCsv } from "../../support/catalog/csv.js";
import { scrape, untilSeries } from "../../support/process/metrics.js";
import { until } from "../../support/until.js";
import { bulk, paths, products } from "../../support/products.js";
import { type Conversation, converse, onlyAnswer } from "../../support/http/socket.js";

const app = await openTestApp();
const mebibyte = 1024 * 1024;
/** One with little memory for bodies. */
const small = await openTestApp({ bodyBytesMax: 2 * mebibyte });
const held = 'vitrine_places_held{kind="uploads"}';
const waiting = 'vitrine_places_waiting{kind="uploads"}';
const list = products(60, () => ({ description: "d".repeat(6_000) }));
const file = toCsv(list);
/** A body is too slow after so long. */
const slowMs = 10_000;

/** A request whose body does not end. */
function begin({ url }: TestApp, { token }: TestStore, path: string, type: string, length: number, body: string) {
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nX-Service-Access-Token: ${token}\r\nContent-Length: ${length}\r\n\r\n`;
  const conversation = converse(url, head + body);
  onTestFinished(() => void conversation.socket.destroy());
  return conversation;
}
const beginFile = (store: TestStore, body = file) => begin(app, store, paths.csv, "text/csv", 50_000_000, body);

const stores = (count: number, at = app) => Promise.all(Array.from({ length: count }, () => createTestStore(at)));
const upload = (store: TestStore) =>
  store.fetch(paths.csv, { method: "POST", headers: { "content-type": "text/csv" }, body: file });

const tooSlow = {
  code: "REQUEST_TIMEOUT",
  detail:
    "The body arrived too slowly, with less than 64 KiB in 10 seconds, while others waited for its place. Nothing was changed.",
};

test("two stores with slow files leave places to a third, which gets one at once", async () => {
  const [one, two, three] = (await stores(3)) as [TestStore, TestStore, TestStore];
  for (const store of [one, two]) for (let n = 0; n < 8; n += 1) beginFile(store);
  await untilSeries(app.url, held, 6);
  const third = beginFile(three);
  await untilSeries(app.url, held, 7); // beside all of theirs
  third.socket.destroy();
  await untilSeries(app.url, held, 6);
  expect((await upload(three)).status).toBe(200);
});

test("a file that does not move gives its place up to one that waits; one that is as slow as a mobile network goes on", async () => {
  const [moving, ...others] = (await stores(6)) as [TestStore, ...TestStore[]];
  await untilSeries(app.url, held, 0);
  const timers = stopTimers();
  const slow = beginFile(moving);
  await untilSeries(app.url, held, 1);
  const stopped: Conversation[] = [];
  for (const store of others.slice(0, 4)) for (let n = 0; n < 3; n += 1) stopped.push(beginFile(store));
  await untilSeries(app.url, held, 8);
  await untilSeries(app.url, waiting, 5);
  await timers.run(5_000);
  const refused = () => stopped.filter((each) => each.received().startsWith("HTTP/1.1 503")).length;
  await until(() => refused() === 5, "those beyond the places to be refused"); // nobody waits any more
  await move(slow);
  await timers.run(slowMs - 5_000);
  await move(slow);
  expect((await scrape(app.url)).get(held), "nobody gives up a place that nobody wants").toBe(8);
  const late = beginFile(others[4] as TestStore);
  await untilSeries(app.url, waiting, 1);
  await timers.run(1_000);
  await until(() => answersOf(stopped).length > 0, "one to be refused");
  await untilSeries(app.url, waiting, 0);
  for (const answer of answersOf(stopped)) expect(onlyAnswer(answer)).toMatchObject({ status: 408, body: tooSlow });
  expect([slow.received(), late.received()]).toEqual(["", ""]);
});

test("likewise memory: JSON that does not move gives up its bytes", async () => {
  const [one, two, three] = (await stores(3, small)) as [TestStore, TestStore, TestStore];
  const length = 2 * mebibyte;
  const timers = stopTimers();
  const stopped = [one, two].flatMap((store) =>
    [1, 2].map(() => begin(small, store, paths.bulk, "application/json", length, "{")),
  );
  await untilSeries(small.url, "vitrine_body_bytes", 4 * length);
  await timers.run(slowMs);
  let isAnswered = false;
  const late = three.post(paths.bulk, bulk(list)).finally(() => (isAnswered = true));
  await until(async () => (await timers.run(1_000), isAnswered), "the third store to get some");
  expect((await late).status).toBe(200);
  await until(() => answersOf(stopped).length > 0, "one to be refused");
  for (const answer of answersOf(stopped)) expect(onlyAnswer(answer)).toMatchObject({ status: 408, body: tooSlow });
});

/** Sends as much as a file must in ten seconds. The server, which is this process, reads it before what is sent later. */
async function move({ socket }: Conversation): Promise<void> {
  await new Promise<void>((resolve) => void socket.write("x".repeat(65_536 + 1_024), () => resolve()));
  await scrape(app.url);
}

function answersOf(conversations: readonly Conversation[]): string[] {
  return conversations.map((each) => each.received()).filter((text) => text.startsWith("HTTP/1.1 408"));
}
