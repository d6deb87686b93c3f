import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readBody } from "../../../src/http/content/body.js";
import { createBodyBudget } from "../../../src/http/content/bodyBudget.js";
import { JsonScanner } from "../../../src/lib/json/scan.js";

test("a compressed body that is refused is inflated no further", async () => {
  const request = Object.assign(new PassThrough(), { headers: { "content-encoding": "gzip" }, complete: false });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const share = createBodyBudget(10_000_000).shareFor(response, "store");
  const reading = readBody(request as unknown as IncomingMessage, {
    bytesMax: 100_000,
    share,
    scanner: new JsonScanner(),
  });
  request.write(gzipSync(Buffer.alloc(5_000_000, " ")));
  await expect(reading).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  expect(request.listenerCount("data"), "the rest is not passed on").toBe(0);
});
