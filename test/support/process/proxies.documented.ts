import { readFile } from "node:fs/promises";
import { expect, onTestFinished } from "vitest";
import { configurationIn } from "../docs.js";
import { needed } from "../run/programs.js";
import { freePort, startHaproxySite, startNginxSite } from "./proxies.js";

/** The proxies of docs/deploying.md, with their programs. */
export const documentedProxies = [
  ["nginx", needed("TEST_NGINX")],
  ["haproxy", needed("TEST_HAPROXY")],
] as const;

/** Starts a proxy as docs/deploying.md shows it, in front of a server, until the test ends. @returns its port */
export async function startAsShown(kind: "nginx" | "haproxy", program: string, url: string): Promise<number> {
  const port = await freePort();
  const server = ["127.0.0.1:4000", `127.0.0.1:${new URL(url).port}`] as const;
  const configuration = configurationIn(await readFile("docs/deploying.md", "utf8"), kind);
  const proxy = await (kind === "nginx"
    ? startNginxSite(program, port, ({ certificate, key }) =>
        withNames(configuration, [
          server,
          ["listen 443", `listen 127.0.0.1:${port}`],
          ["/etc/ssl/shop-api.pem", certificate],
          ["/etc/ssl/shop-api.key", key],
        ]),
      )
    : startHaproxySite(program, port, ({ both }) =>
        withNames(configuration, [
          server,
          ["bind :443", `bind 127.0.0.1:${port}`],
          ["/etc/haproxy/shop-api.pem", both],
        ]),
      ));
  onTestFinished(() => proxy.close());
  return port;
}

/** Replaces names of a configuration, each of which must be there. */
function withNames(configuration: string, names: readonly (readonly [string, string])[]): string {
  return names.reduce((replaced, [name, value]) => {
    expect(replaced).toContain(name);
    return replaced.replaceAll(name, value);
  }, configuration);
}
