import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { BodyScanner } from "../../../src/server/content/bodyScanner.js";
import { fingerprintScope, withIdempotency } from "../../../src/server/http/requestContext.js";
import type { Context } from "../../../src/schema/context.js";

const context = { sent: { isRest: true } } as Context; // nothing of it is read

function fingerprintOf(path: string, body: Buffer, key = "k"): string | undefined {
  const request = new IncomingMessage(new Socket());
  request.headers["idempotency-key"] = key;
  const scanner = new BodyScanner({ parent: [], fingerprintScope: fingerprintScope(request, path) });
  for (let at = 0; at < body.length; at += 65_536) scanner.push(body.subarray(at, at + 65_536));
  const { fingerprint } = scanner.end(scanner.bytes());
  return withIdempotency(context, request, fingerprint).sent.idempotency?.fingerprint;
}

test("requests have the same fingerprint if path and body are the same", () => {
  const body = Buffer.from('{"products":[]}');
  const fingerprint = fingerprintOf("/external/product/v1/bulk", body);
  expect(fingerprint).toMatch(/^[\da-f]{64}$/u);
  expect(fingerprintOf("/external/product/v1/bulk", Buffer.from(body), "another key")).toBe(fingerprint);
  expect(fingerprintOf("/external/product/v1", body), "the same body at another path").not.toBe(fingerprint);
  expect(fingerprintOf("/external/product/v1/bulk", Buffer.from('{"products":[ ]}'))).not.toBe(fingerprint);
});

test("the fingerprint depends on every byte of a long body", () => {
  const body = Buffer.from(`{"a":"${" ".repeat(2_500_000)}"}`);
  const fingerprints = new Set([fingerprintOf("/graphql", body)]);
  for (const at of [7, 1_048_575, 1_048_576, 2_499_999]) {
    const other = Buffer.from(body);
    other[at] = 0x7b;
    fingerprints.add(fingerprintOf("/graphql", other));
  }
  expect(fingerprints.size).toBe(5);
});

test("a request without an Idempotency-Key keeps its context", () => {
  const request = new IncomingMessage(new Socket());
  expect(fingerprintScope(request, "/graphql")).toBeUndefined();
  expect(withIdempotency(context, request, undefined)).toBe(context);
});
