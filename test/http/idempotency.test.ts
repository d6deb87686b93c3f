import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { withIdempotency } from "../../src/http/idempotency.js";
import type { Context } from "../../src/schema/context.js";

const context = { requestId: "test" } as Context; // nothing of it is read

async function fingerprintOf(path: string, body: Buffer, key = "k"): Promise<string | undefined> {
  const request = new IncomingMessage(new Socket());
  request.headers["idempotency-key"] = key;
  return (await withIdempotency(context, request, path, body)).idempotency?.fingerprint;
}

test("requests have the same fingerprint if path and body are the same", async () => {
  const body = Buffer.from('{"products":[]}');
  const fingerprint = await fingerprintOf("/external/product/v1/bulk", body);
  expect(fingerprint).toMatch(/^[\da-f]{64}$/u);
  expect(await fingerprintOf("/external/product/v1/bulk", Buffer.from(body), "another key")).toBe(fingerprint);
  expect(await fingerprintOf("/external/product/v1", body), "the same body at another path").not.toBe(fingerprint);
  expect(await fingerprintOf("/external/product/v1/bulk", Buffer.from('{"products":[ ]}'))).not.toBe(fingerprint);
});

test("the fingerprint depends on every byte of a long body", async () => {
  const body = Buffer.alloc(2_500_000, " ");
  const fingerprints = new Set([await fingerprintOf("/graphql", body)]);
  for (const at of [0, 1_048_575, 1_048_576, 2_499_999]) {
    const other = Buffer.from(body);
    other[at] = 0x7b;
    fingerprints.add(await fingerprintOf("/graphql", other));
  }
  expect(fingerprints.size).toBe(5);
});

test("a request without an Idempotency-Key keeps its context", async () => {
  const request = new IncomingMessage(new Socket());
  expect(await withIdempotency(context, request, "/graphql", Buffer.from("{}"))).toBe(context);
});
