import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { type BodyScan, scanBody } from "../../../src/server/content/bodyScan.js";
import { BodyScanner } from "../../../src/server/content/bodyScanner.js";
import { parseUnparsed, receiveBody } from "../../../src/lib/json/jsonBody.js";
import { depthMax } from "../../../src/lib/json/scanJson.js";
import { collectGarbage } from "../../../src/lib/threads/garbage.js";

const options = { parent: ["variables"], fingerprintScope: "/graphql\n" };
const products = Array.from({ length: 20_000 }, (_, index) => ({ id: `p-${index}`, title: 'Ä "quoted" title' }));
const text = Buffer.from(` {"query":"q", "variables": {"products" : ${JSON.stringify(products)} , "siteId":7} }`);
const never = (error: Error) => expect.fail(String(error));

/** Pieces with memory of their own, as those of sockets, or parts of one buffer, as those of an inflater. */
async function addAll(scan: BodyScan, pieceBytes: number, isCopied = true): Promise<void> {
  for (let at = 0; at < text.length; at += pieceBytes) {
    const piece = text.subarray(at, at + pieceBytes);
    await scan.add(isCopied ? Buffer.from(new Uint8Array(piece).buffer) : piece);
  }
}

test.each([
  ["a known length", text.length, 65_536, true],
  ["a known length, in pieces of larger buffers", text.length, 16_384, false],
  ["an unknown length", undefined, 65_536, true],
  ["an unknown length, in one piece", undefined, text.length, true],
])("a large body is the same on the thread: %s", async (_, length, pieceBytes, isCopied) => {
  const here = new BodyScanner(options);
  here.push(text);
  const { fingerprint } = here.end(here.bytes());
  const scan = scanBody(options, length, never);
  await addAll(scan, pieceBytes, isCopied);
  const body = await scan.end();
  expect(body).toMatchObject({ length: text.length, fingerprint });
  const { variables } = body.value as { variables: { products: string; siteId: number } };
  expect(variables.siteId).toBe(7);
  const unparsed = body.unparsed.get(variables.products) ?? expect.fail("it was parsed");
  expect(unparsed).toMatchObject({ first: "[", items: products.length });
  expect(await parseUnparsed(unparsed)).toEqual(products);

  const { port1, port2 } = new MessageChannel();
  unparsed.body.sendTo(port1);
  expect((await receiveBody(port2)).equals(text), "for another thread").toBe(true);
  scan.close();
});

test("a thread that has used a body can collect it at once", async () => {
  const receive = async () => {
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(text);
    return new WeakRef(await receiveBody(port2));
  };
  const body = await receive();
  await new Promise((resolve) => setImmediate(resolve)); // before ports are closed
  collectGarbage();
  expect(body.deref()).toBeUndefined();
});

test("waiting for the bytes of a closed body is refused", async () => {
  const scan = scanBody(options, text.length, never);
  await addAll(scan, 65_536);
  const { unparsed } = await scan.end();
  scan.close();
  const [value] = unparsed.values();
  await expect(value?.body.bytes()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("deep nesting in a large body is refused although the rest never arrives", async () => {
  const refused = new Promise<Error>((resolve) => {
    void scanBody(options, 10_000_000, resolve).add(Buffer.from("[".repeat(depthMax + 1)));
  });
  expect(await refused).toMatchObject({ code: "BAD_REQUEST", message: expect.stringContaining(`${depthMax} levels`) });
});

test("a large body that is incomplete is refused", async () => {
  const scan = scanBody(options, text.length, () => undefined);
  await scan.add(Buffer.from(new Uint8Array(text.subarray(0, 400_000)).buffer));
  await expect(scan.end()).rejects.toMatchObject({ code: "BAD_REQUEST" });
  scan.close();
});

test("a sender waits for the thread", async () => {
  const scan = scanBody(options, 64 * 1024 * 1024, never);
  const waits = Array.from({ length: 32 }, () => scan.add(Buffer.alloc(65_536, " ")));
  expect(waits.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => undefined));
  expect(waits[15], "after 1 MiB").toBeInstanceOf(Promise);
  await waits.at(-1);
  scan.close();
});
