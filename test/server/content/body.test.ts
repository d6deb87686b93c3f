import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { createBodyBudget, readBody, receive } from "../../../src/server/content/body.js";
import { bytesOfTurns } from "../../support/http/turns.js";

/** Refuses a compressed body that has not ended. @returns the request, and what its data was piped to */
async function refuseCompressed(bytesMax: number) {
  const request = Object.assign(new PassThrough(), { headers: { "content-encoding": "gzip" }, complete: false });
  const piped = vi.spyOn(request, "pipe");
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const share = createBodyBudget(10_000_000).shareFor(response, "store");
  const options = { bytesMax, share, parent: [], fingerprintScope: undefined };
  const reading = readBody(request as unknown as IncomingMessage, response, options);
  request.write(gzipSync(Buffer.alloc(5_000_000, " ")));
  await expect(reading).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  return { request, inflater: piped.mock.calls[0]?.[0] };
}

test("a refused compressed body is not inflated further", async () => {
  const { request, inflater } = await refuseCompressed(100_000);
  expect(request.listenerCount("data"), "the rest is not passed on").toBe(0);
  expect(inflater).toMatchObject({ destroyed: true });
});

test("a refused large body keeps no connection to the thread that has scanned it", async () => {
  const ports = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
  await refuseCompressed(1_000_000);
  const before = ports();
  for (let n = 0; n < 20; n += 1) await refuseCompressed(1_000_000);
  await expect.poll(ports).toBeLessThan(before + 5); // some are just being closed
});

test.each([{}, { "content-encoding": "gzip" }])(
  "a client that has left before its body is read has sent no body: %o",
  async (headers) => {
    const request = Object.assign(new PassThrough(), { headers, complete: true });
    request.destroy();
    await once(request, "close");
    const taken = receive(request as unknown as IncomingMessage, () => expect.fail("there is nothing to take"));
    await expect(taken).rejects.toMatchObject({ code: "BAD_REQUEST" });
  },
);

test("reading a body ends once its last piece is taken, also where its client has left meanwhile", async () => {
  const request = Object.assign(new PassThrough(), { headers: {} });
  let isTaken = false;
  const received = receive(request as unknown as IncomingMessage, async () => {
    request.destroy();
    await once(request, "close");
    await new Promise((resolve) => setImmediate(resolve));
    isTaken = true;
  });
  request.write("a piece");
  await expect(received).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(isTaken).toBe(true);
});

test("a body that has arrived is read in pieces, between which other requests are served", async () => {
  const pieces = Array.from({ length: 64 }, () => Buffer.alloc(65_536, " "));
  const request = Object.assign(new PassThrough({ highWaterMark: 10_000_000 }), { headers: {} });
  for (const piece of pieces) request.write(piece);
  request.end();
  const turns = bytesOfTurns();
  let bytes = 0;
  await receive(request as unknown as IncomingMessage, ({ length }) => {
    turns.add(length);
    bytes += length;
    return undefined;
  });
  expect(bytes).toBe(64 * 65_536);
  expect(turns.most()).toBeLessThan(1_200_000);
});
