import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { toCsv } from "../../support/catalog/csv.js";
import { bulk, paths, products, storedKeys } from "../../support/products.js";
import { converse, onlyAnswer } from "../../support/http/socket.js";

const app = await openTestApp();
/** More than is kept in memory, or scanned on the event loop. */
const list = products(60, () => ({ description: "d".repeat(5_000) }));

/** A body in the chunked coding, each of its last bytes in a chunk of its own: all of a longer body would tell no more. */
function byteByByte(body: string): string {
  const [whole, single] = [body.slice(0, -20_000), body.slice(-20_000)];
  const first = `${whole.length.toString(16)}\r\n${whole}\r\n`;
  return `${first}${Array.from(single, (byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n`;
}

test.each([
  ["a file", paths.csv, "text/csv", toCsv(list)],
  ["JSON", paths.bulk, "application/json", JSON.stringify(bulk(list))],
])("%s of which each byte is a chunk is imported, and others are served meanwhile", async (_, path, type, body) => {
  const store = await createTestStore(app);
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nX-Service-Access-Token: ${store.token}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const conversation = converse(app.url, head + byteByByte(body));
  const order: string[] = [];
  await Promise.all([
    conversation.closed().then(() => order.push("the body")),
    fetch(`${app.url}/healthz`).then(() => order.push("another request")),
  ]);
  expect(order).toEqual(["another request", "the body"]);
  expect(onlyAnswer(conversation.received())).toMatchObject({ status: 200, body: { imported: 60 } });
  expect(Object.keys(await storedKeys(app, store))).toHaveLength(60);
});
