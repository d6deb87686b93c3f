import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";
import { receive } from "../../support/http/bytes.js";
import { readPage } from "../../support/browser/pages.js";
import { paths } from "../../support/products.js";

const app = await openTestApp();
const store = await createTestStore(app);

describe("pages", () => {
  test.each(["/", "/graphql", "/docs"])(
    "%s runs only its own scripts, calls only this server, and cannot be framed",
    async (path) => {
      const { headers, html, files } = await readPage(app, path);
      const policy = Object.fromEntries(
        (headers.get("content-security-policy") ?? "").split("; ").map((rule) => {
          const [name = "", ...sources] = rule.split(" ");
          return [name, sources];
        }),
      );
      const scripts = [...html.matchAll(/<script\b([^>]*)>([^]*?)<\/script>/gu)];
      const inline = scripts.filter(([, attributes]) => attributes === "").map(([, , script = ""]) => script);
      const hashes = inline.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`);
      expect(scripts.length - inline.length, "a script is either inline or a file").toBe(
        files.filter((file) => file.endsWith(".js")).length,
      );
      const own = files.length === 0 ? [] : ["'self'"];
      expect(policy).toEqual({
        "default-src": ["'none'"],
        "script-src": scripts.length === 0 ? ["'none'"] : [...own, ...hashes],
        "style-src": [...own, "'unsafe-inline'"],
        "img-src": ["'self'", "data:"],
        "font-src": [...own, "data:"],
        "worker-src": files.length === 0 ? ["'none'"] : own,
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
      });
      expect(Object.fromEntries(headers)).toMatchObject({
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
      });
      expect(html, "handlers in attributes would not run").not.toMatch(/<[a-z][^<>]*\son[a-z]+\s*=/iu);
    },
  );
});

test.each(["/graphql", "/docs"])(
  "the files of %s are immutable, and no other file is served beside them",
  async (path) => {
    const { files } = await readPage(app, path);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(file).toMatch(new RegExp(`^${path}/assets/[a-z-]+-\\d+\\.\\d+\\.\\d+/[a-z-]+\\.(?:js|css)$`, "u"));
      const { status, headers, bytes } = await receive(app.url, file);
      expect({ status, cacheControl: headers["cache-control"] }).toEqual({
        status: 200,
        cacheControl: "public, max-age=31536000, immutable",
      });
      expect(headers["content-type"]).toBe(`text/${file.endsWith(".js") ? "javascript" : "css"}; charset=utf-8`);
      expect(bytes.length).toBeGreaterThan(10_000);
      const folder = file.replace(/[^/]+$/u, "");
      const beside = ["//", ".map", "%00", "/../package.json"].map((end) => `${file}${end}`);
      for (const other of [...beside, folder, `${folder}..%2f..%2fpackage.json`, `${folder}../../../package.json`]) {
        expect([other, (await receive(app.url, other)).status]).toEqual([other, 404]);
      }
    }
  },
);

test("a page that a browser revalidates keeps its policies", async () => {
  const first = await fetch(`${app.url}/`);
  const known = await receive(app.url, "/", { headers: { "If-None-Match": first.headers.get("etag") ?? "" } });
  expect(known.status).toBe(304);
  for (const name of ["content-security-policy", "x-frame-options", "cross-origin-opener-policy"]) {
    expect([name, known.headers[name]]).toEqual([name, first.headers.get(name)]);
  }
});

test("these headers do not prevent calls of other origins that CORS allows", async () => {
  for (const path of ["/openapi.json", paths.of("none"), "/graphql?query={__typename}", "/healthz"]) {
    const { headers } = await store.fetch(path, { headers: { origin: "https://shop.example" } });
    expect({ path, allowed: headers.get("access-control-allow-origin") }).toEqual({ path, allowed: "*" });
    expect(headers.get("cross-origin-resource-policy")).toBeNull();
  }
});

test("every response forbids type sniffing, and none names the server's software", async () => {
  const answers = [
    ...(await Promise.all(["/", "/healthz", "/nowhere", "/openapi.json"].map((path) => fetch(`${app.url}${path}`)))),
    await store.fetch(paths.of("none")),
    await store.fetch("/graphql?query={__typename}"),
    await store.fetch("/graphql", { method: "POST", body: "x" }),
  ];
  for (const { url, headers } of answers) {
    expect({ url, nosniff: headers.get("x-content-type-options") }).toEqual({ url, nosniff: "nosniff" });
    expect([headers.get("server"), headers.get("x-powered-by")]).toEqual([null, null]);
  }
});
