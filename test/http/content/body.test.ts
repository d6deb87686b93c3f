import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readBody, receive } from "../../../src/http/content/body.js";
import { createBodyBudget } from "../../../src/http/content/bodyBudget.js";
import { bytesOfTurns } from "../../support/turns.js";

test("a refused compressed body is not inflated further", async () => {
  const request = Object.assign(new PassThrough(), { headers: { "content-encoding": "gzip" }, complete: false });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const share = createBodyBudget(10_000_000).shareFor(response, "store");
  const reading = readBody(request as unknown as IncomingMessage, response, {
    bytesMax: 100_000,
    share,
    parent: [],
    fingerprintScope: undefined,
  });
  request.write(gzipSync(Buffer.alloc(5_000_000, " ")));
  await expect(reading).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  expect(request.listenerCount("data"), "the rest is not passed on").toBe(0);
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
