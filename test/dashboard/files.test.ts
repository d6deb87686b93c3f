import { readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openTestApp } from "../support/app.js";

const app = await openTestApp();

const bundle = new URL("../../dist/dashboard/", import.meta.url);

/** The paths that the page names. */
async function namedPaths(): Promise<string[]> {
  const address = `${app.url}/dashboard`;
  const html = await (await fetch(address)).text();
  return [...html.matchAll(/(?:src|href)="([^"]+)"/gu)].map(([, path = ""]) => new URL(path, address).pathname);
}

test("the page is served with a strict policy, and revalidated each time", async () => {
  const response = await fetch(`${app.url}/dashboard`);
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  const html = await response.text();
  expect(html).toBe(await readFile(new URL("index.html", bundle), "utf8"));
  expect(html, "nothing is written into the page that the policy would stop").not.toMatch(/<style|style=|<script>/u);
});

test("with FRAME_ANCESTORS, pages of these origins may show it in a frame, and no other page of the service", async () => {
  const { url } = await openTestApp({ frameAncestors: ["https://admin.example", "https://*.shop.example"] });
  const framed = (await fetch(`${url}/dashboard`)).headers;
  expect(framed.get("content-security-policy")).toMatch(
    /; frame-ancestors https:\/\/admin\.example https:\/\/\*\.shop\.example$/u,
  );
  expect(framed.has("x-frame-options")).toBe(false);
  for (const own of [(await fetch(`${url}/docs`)).headers, (await fetch(`${app.url}/dashboard`)).headers]) {
    expect(own.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(own.get("x-frame-options")).toBe("DENY");
  }
});

test("its files have hashed names, are immutable, and compressed", async () => {
  const paths = await namedPaths();
  expect(paths.map((path) => path.replace(/-[\w-]{8}\./u, "-HASH.")).toSorted()).toEqual([
    "/dashboard/assets/icon-HASH.svg",
    "/dashboard/assets/index-HASH.css",
    "/dashboard/assets/index-HASH.js",
  ]);
  for (const path of paths) {
    const response = await fetch(`${app.url}${path}`, { headers: { "accept-encoding": "br" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-encoding")).toBe(path.endsWith(".svg") ? null : "br");
    const type = path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "image/svg+xml";
    expect(response.headers.get("content-type")?.split(";")[0]).toBe(type);
    expect(await response.text()).toBe(await readFile(new URL(path.slice("/dashboard/".length), bundle), "utf8"));
    expect((await fetch(`${app.url}${path}`, { method: "POST" })).status).toBe(405);
  }
});

test("no other file is served, however its path is written", async () => {
  const ask = (path: string) =>
    new Promise<number>((resolve, reject) => {
      const { port } = new URL(app.url);
      request({ port, path, host: "127.0.0.1" }, (response) => resolve(response.resume().statusCode ?? 0))
        .on("error", reject)
        .end();
    });
  for (const path of [
    "/dashboard/index.html",
    "/dashboard/assets/",
    "/dashboard/assets/nothing.js",
    "/dashboard/assets/../index.html",
    "/dashboard/assets/../../main.js",
    "/dashboard/assets/..%2f..%2fmain.js",
    "/dashboard/assets/%2e%2e/%2e%2e/main.js",
    "/dashboard/../../package.json",
    "/dashboard/assets/__proto__",
    "/dashboard/assets/constructor",
  ]) {
    expect(await ask(path), path).toBe(404);
  }
});

test("all scripts and styles together are at most 80 kB, compressed", async () => {
  const names = await readdir(bundle, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && /\.(?:js|css)$/u.test(entry.name));
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => gzipSync(await readFile(`${parentPath}/${name}`)).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(10_000);
  expect(total).toBeLessThanOrEqual(80_000);
});
