// @tier all
import { expect, onTestFinished, test } from "vitest";
import { needed } from "../support/run/programs.js";
import { createTestStore } from "../support/app.js";
import { openAppInBrowser } from "../support/browser/browser.js";
import { startNginx } from "../support/process/proxies.js";
import { saved } from "../support/shows.js";

// What docs/clients.md says of many streams in one page.

const nginx = needed("TEST_NGINX");
const { app, browser } = await openAppInBrowser();

/** Opens eight streams in a page. @returns how many have answered when `expected` have, and a query could have after these */
async function streamsThatOpen(
  url: string,
  expected: number,
): Promise<{ readonly opened: number; readonly protocol: string }> {
  const store = await createTestStore(app);
  const { id } = await saved(store, { status: "LIVE" });
  const opened = await browser.open(`${url}/`, { ignoreHTTPSErrors: true });
  const { page } = opened;
  const query = `subscription { liveStreamAnalytics(lsId: "${id}") { name } }`;
  const count = (await page.evaluate(`(async () => {
    const counts = { opened: 0 };
    const headers = { "content-type": "application/json", accept: "text/event-stream", "x-service-access-token": ${JSON.stringify(store.token)} };
    const body = ${JSON.stringify(JSON.stringify({ query }))};
    for (let n = 0; n < 8; n += 1) fetch("/graphql", { method: "POST", headers, body }).then(() => (counts.opened += 1));
    while (counts.opened < ${expected}) await new Promise((resolve) => setTimeout(resolve, 20));
    // Where all connections are taken, nothing tells that the others wait.
    await Promise.race([fetch("/healthz"), new Promise((resolve) => setTimeout(resolve, 1_000))]);
    return counts.opened;
  })()`)) as number;
  const protocol = (await page.evaluate(`performance.getEntriesByType("navigation")[0].nextHopProtocol`)) as string;
  await opened.close();
  return { opened: count, protocol };
}

test("over HTTP/1.1 a browser opens six, and the others wait", async () => {
  expect(await streamsThatOpen(app.url, 6)).toEqual({ opened: 6, protocol: "http/1.1" });
});

test("over HTTP/2 it opens all", async () => {
  const proxy = await startNginx(nginx, `proxy_pass ${app.url}; proxy_http_version 1.1;`, true);
  onTestFinished(() => proxy.close());
  expect(await streamsThatOpen(`https://127.0.0.1:${proxy.port}`, 8)).toEqual({ opened: 8, protocol: "h2" });
});
