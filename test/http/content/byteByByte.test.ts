import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { within } from "../../support/busy.js";
import { toCsv } from "../../support/catalog/csv.js";
import { bulk, paths, products, storedKeys } from "../../support/products.js";
import { converse, onlyAnswer } from "../../support/http/socket.js";

const app = await openTestApp();
/** More than is kept in memory, or scanned on the event loop. */
const list = products(60, () => ({ description: "d".repeat(5_000) }));

/** A body in the chunked coding, each byte of it in a chunk of its own. */
function byteByByte(body: string): string {
  return `${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`;
}

test.each([
  ["a file", paths.csv, "text/csv", toCsv(list)],
  ["JSON", paths.bulk, "application/json", JSON.stringify(bulk(list))],
])("%s of which each byte is a chunk is imported, and others are served meanwhile", async (_, path, type, body) => {
  const store = await createTestStore(app);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nX-Service-Access-Token: ${store.token}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const conversation = converse(app.url, head + byteByByte(body));
  let isDone = false;
  const closed = conversation.closed(within(60_000)).finally(() => (isDone = true));
  let longest = 0;
  for (const done = () => isDone; !done();) {
    const begun = performance.now();
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    longest = Math.max(longest, performance.now() - begun);
  }
  await closed;
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 200, body: { imported: 60 } });
  expect(Object.keys(await storedKeys(app, store))).toHaveLength(60);
  expect(longest).toBeLessThan(within(1_000));
});
