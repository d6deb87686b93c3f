import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createTestStore, openTestApp, type TestStore } from "../../support/app.js";
import { scrape, untilSeries } from "../../support/process/metrics.js";
import { paths } from "../../support/products.js";
import { converse } from "../../support/http/socket.js";

const app = await openTestApp();
const held = 'vitrine_places_held{kind="uploads"}';
const waiting = 'vitrine_places_waiting{kind="uploads"}';
/** How many large files of a store may arrive at the same time. */
const ofStore = 4;

/** An upload of which so much is sent, and more is announced. */
function begin({ token }: TestStore, body: Buffer, headers = `Content-Length: ${body.length + 10}`) {
  const { socket } = converse(
    app.url,
    `POST ${paths.csv} HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nX-Service-Access-Token: ${token}\r\n${headers}\r\n\r\n`,
  );
  socket.write(body);
  return socket;
}

/** Little more than is kept in memory: nothing of it is left unread, so that the server sees when its client leaves. */
const unfinished = Buffer.alloc(270_000, "x");

async function occupied() {
  const store = await createTestStore(app);
  const first = Array.from({ length: ofStore }, () => begin(store, unfinished));
  await untilSeries(app.url, held, ofStore);
  return { store, free: () => first.forEach((socket) => socket.destroy()) };
}

/** The server notices it at once, and not only when the time is over that it may wait for a place. */
async function leave({ id }: TestStore, socket: Socket): Promise<void> {
  socket.destroy();
  await expect.poll(() => app.accessLog.some((line) => line.includes(id) && line.includes('"aborted"'))).toBe(true);
}

/** Takes all places of a store anew, once those that are held are given back. @returns how many it has got */
async function takenAnew(store: TestStore): Promise<number | undefined> {
  await untilSeries(app.url, held, 0);
  const next = Array.from({ length: ofStore }, () => begin(store, unfinished));
  await untilSeries(app.url, held, ofStore);
  const taken = (await scrape(app.url)).get(held);
  next.forEach((socket) => socket.destroy());
  await untilSeries(app.url, held, 0);
  return taken;
}

test("an upload whose client leaves while it waits for a place does not get one", async () => {
  const { store, free } = await occupied();
  const late = begin(store, unfinished);
  await untilSeries(app.url, waiting, 1);
  await leave(store, late);
  free();
  expect(await takenAnew(store)).toBe(ofStore);
});

test("nor does one whose client leaves once all of its compressed body is there, a part of it not yet inflated", async () => {
  const { store, free } = await occupied();
  // Its second piece waits before the inflater, where the first one waits.
  const body = gzipSync(Buffer.concat([unfinished, randomBytes(100_000)]));
  const late = begin(store, body, `Content-Encoding: gzip\r\nContent-Length: ${body.length}`);
  await untilSeries(app.url, waiting, 1);
  await leave(store, late);
  free();
  expect(await takenAnew(store)).toBe(ofStore);
});

test("a body waits for memory no longer than its client does", async () => {
  const store = await createTestStore(app);
  const length = 20 * 1_024 * 1_024;
  const bodyBytes = "vitrine_body_bytes";
  const json = () => {
    const { socket } = converse(
      app.url,
      `POST ${paths.bulk} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Service-Access-Token: ${store.token}\r\nContent-Length: ${length}\r\n\r\n{`,
    );
    return socket;
  };
  const first = Array.from({ length: 6 }, json); // all that a store may have
  await untilSeries(app.url, bodyBytes, 6 * length);
  const late = json();
  late.destroy();
  await expect.poll(async () => (await scrape(app.url)).get(bodyBytes)).toBe(6 * length);
  for (const socket of first) socket.destroy();
  await untilSeries(app.url, bodyBytes, 0);
});
