// @tier all
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { expectAccessible, expectClean, openBrowser } from "../support/browser/browser.js";
import { until } from "../support/until.js";

const browser = await openBrowser();

const faulty = `<!doctype html><html><title>Faulty</title>
  <img src="http://elsewhere.example/image.png">
  <script>console.error("said so"); try { eval("1") } catch {} throw new Error("thrown");</script>
`;

test("the harness reports errors, violations of the policy, failed requests, other hosts, and images without alternative text", async () => {
  const server = createServer((request, response) => {
    if (request.url !== "/") return response.writeHead(204).end();
    response.writeHead(200, {
      "content-type": "text/html",
      "content-security-policy": "script-src 'unsafe-inline'",
    });
    return response.end(faulty);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const opened = await browser.open(`http://127.0.0.1:${port}/`);
  const kinds = ["console: said so", "uncaught: thrown", "script-src eval", "request: net::ERR_NAME_NOT_RESOLVED"];
  const noticed = () => kinds.filter((kind) => opened.faults.some((fault) => fault.startsWith(kind)));
  await until(() => noticed().length === kinds.length, "all faults to be noticed").catch(() => undefined);
  expect(noticed()).toEqual(kinds);
  expect([...opened.hosts].toSorted()).toEqual([`127.0.0.1:${port}`, "elsewhere.example"]);
  expect(() => expectClean(opened)).toThrow("faults of the page");
  expect(() => expectClean(opened, [/^(?!uncaught)/u])).toThrow("faults of the page");
  expect(() => expectClean(opened, [/./u])).toThrow("hosts that were called");
  await expect(expectAccessible(opened)).rejects.toThrow("what axe-core finds");
  await opened.close();
  server.close();
});
