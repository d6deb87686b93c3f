// @tier all
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { expect, onTestFinished, test } from "vitest";
import { issueKey } from "../../../../src/stores/publicKey.js";
import { readConfig } from "../../../../src/config.js";
import { startApp } from "../../../support/app.js";
import { configurationIn } from "../../../support/docs.js";
import { storeWithShow } from "../../../support/events.js";
import { documentedProxies, startAsShown } from "../../../support/process/proxies.documented.js";
import { until } from "../../../support/until.js";
import { readKpis } from "../../../support/shows.js";

const viewers = 1_000;
const atOnceMax = 10;

/** The environment that the page shows, for one start of the service. */
async function shownConfig() {
  const unit = configurationIn(await readFile("docs/deploying.md", "utf8"), "ini");
  const pairs = (/^Environment=(.*)$/mu.exec(unit)?.[1] ?? "").split(" ").map((pair) => pair.split("="));
  return readConfig(Object.fromEntries(pairs));
}

/** Sends a body from an address of this machine, with an address that the client made up. */
function post(port: number, from: string, forged: string, body: object): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, localAddress: from, rejectUnauthorized: false, agent: false };
    const headers = { "content-type": "text/plain", "x-forwarded-for": forged };
    request({ ...options, path: "/collect/v1", method: "POST", headers }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode));
    })
      .once("error", reject)
      .end(JSON.stringify(body));
  });
}

test.each(documentedProxies)(
  "viewers behind the documented %s are told apart by their addresses, which they cannot forge",
  async (kind, program) => {
    const { trustedProxies } = await shownConfig();
    const app = await startApp({ trustedProxies, collectRateLimit: 1 });
    onTestFinished(() => app.close());
    const { store, lsId: show } = await storeWithShow(app);
    const { key } = await issueKey(app.db, store.id, { origins: ["https://shop.example"] });
    const port = await startAsShown(kind, program, app.url);
    const addressOf = (n: number) => `127.1.${Math.floor(n / 250)}.${(n % 250) + 1}`;
    const view = (n: number) => ({ id: `view-${n}`, type: "VIEW", channel: "LIVE", seconds: 1 });

    const left = Array.from({ length: viewers }, (_, n) => n);
    const sendOneByOne = async (): Promise<void> => {
      for (let n = left.pop(); n !== undefined; n = left.pop()) {
        const body = { key, show, viewer: `viewer-${n}`, events: [view(n)] };
        const send = () => post(port, addressOf(n), "203.0.113.9", body);
        let status = await send();
        // This process serves, too: while it is busy, HAProxy's checks fail, and it answers itself.
        await until(async () => status !== 503 || (status = await send()) !== 503, "the proxy to find the server");
        expect([n, status]).toEqual([n, 202]);
      }
    };
    await Promise.all(Array.from({ length: atOnceMax }, sendOneByOne));
    expect((await readKpis(store, show)).viewers.live).toBe(viewers);

    const another = { key, show, viewer: "another", events: [view(viewers)] };
    for (const forged of ["203.0.113.10", "203.0.113.11, 203.0.113.12", "127.0.0.1"]) {
      expect(await post(port, addressOf(0), forged, another)).toBe(429);
    }
    expect(app.logged.join("")).not.toContain("TRUST_PROXY");
  },
);
