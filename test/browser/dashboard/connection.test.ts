// @tier all
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { revokeToken } from "../../../src/stores/token.replace.js";
import { issueToken } from "../../../src/stores/token.js";
import { createTestStore, startApp, type TestApp } from "../../support/app.js";
import { expectClean, openAppInBrowser } from "../../support/browser/browser.js";
import { openNewestShow } from "../../support/browser/dashboard.js";
import { order } from "../../support/events.js";
import { recorded, saved } from "../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });

/** A store with a live show in which something was sold. */
async function storeWithLiveShow(at: TestApp) {
  const store = await createTestStore(at);
  const { id: lsId } = await saved(store, { status: "LIVE", name: "On air", startedAt: new Date().toISOString() });
  await recorded(store, lsId, [order("1", 1.5)]);
  return { store, lsId, sell: (id: string, amount: number) => recorded(store, lsId, [order(id, amount)]) };
}

/** A way to a server that can be closed and opened again, as if the server itself were gone. */
async function openWay(target: TestApp) {
  const port = Number(new URL(target.url).port);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.once("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on("error", () => other.destroy());
      one.pipe(other);
    }
  });
  const listen = (at: number) => once(server.listen(at, "127.0.0.1"), "listening");
  await listen(0);
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    reopen: () => listen(address.port),
  };
}

test("while the server is down the page says so and keeps the last figures, which update when it is back", async () => {
  const { store, sell } = await storeWithLiveShow(app);
  const way = await openWay(app);
  const opened = await openNewestShow(browser, way, store);
  const { page } = opened;
  const sales = page.getByRole("article").filter({ hasText: "Sales" });
  await sales.getByText("1.50").first().waitFor();
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();

  way.close();
  await page.getByRole("alert").filter({ hasText: "The connection is lost. The server cannot be reached." }).waitFor();
  await page.getByText(/^Next attempt at .+, in \d+ s\.$/u).waitFor();
  await page.getByRole("status").filter({ hasText: "Reconnecting" }).waitFor();
  expect(await sales.textContent()).toContain("1.50");
  await opened.screenshot("dashboard.gone");

  await sell("2", 2);
  await page.getByRole("button", { name: "Try now" }).waitFor();
  await way.reopen();
  await sales.getByText("3.50").first().waitFor(); // by itself
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expectClean(opened, [/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|ERR_SOCKET|ERR_NETWORK/u]);
  await opened.close();
  way.close();
});

test("internal errors are retried automatically, others on request", async () => {
  const { store } = await storeWithLiveShow(app);
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "On air" }).waitFor();
  let code: string | undefined;
  await page.route("**/graphql", async (route) => {
    const subscribes = route.request().postData()?.includes("subscription Show") === true;
    if (code === undefined || !subscribes) return route.continue();
    const data = JSON.stringify({ errors: [{ message: "No.", extensions: { code, requestId: "r1" } }] });
    const body = `event: next\ndata: ${data}\n\nevent: complete\ndata:\n\n`;
    return route.fulfill({ contentType: "text/event-stream", body });
  });
  const breakOff = () => page.evaluate("dispatchEvent(new Event('offline'))");
  const status = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
  for (const [given, title, phase] of [
    ["INTERNAL", "Server error. No. (r1)", "Reconnecting"],
    ["BAD_REQUEST", "The figures cannot be read. No. (r1)", "Stopped"],
  ] as const) {
    code = given;
    await breakOff();
    await page.getByRole("alert").filter({ hasText: title }).waitFor();
    await status(phase);
    await page.getByRole("button", { name: "Try now" }).waitFor();
    code = undefined;
    if (phase === "Stopped") await page.getByRole("button", { name: "Try now" }).click();
    await status("Up to date");
  }
  expectClean(opened);
  await opened.close();
});

test("an offline browser says so, and reconnects once it is online", async () => {
  const { store, sell } = await storeWithLiveShow(app);
  const opened = await openNewestShow(browser, app, store);
  const { page } = opened;
  const sales = page.getByRole("article").filter({ hasText: "Sales" });
  await sales.getByText("1.50").first().waitFor();
  await page.context().setOffline(true);
  await page.getByRole("alert").filter({ hasText: "You are offline." }).waitFor();
  await sell("2", 2);
  await page.context().setOffline(false);
  await sales.getByText("3.50").first().waitFor();
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });
  expectClean(opened, [/ERR_INTERNET_DISCONNECTED/u]);
  await opened.close();
});

test("revoking the token of an open page leads to the sign-in, where another one is accepted", async () => {
  const { store } = await storeWithLiveShow(app);
  const { id, token } = await issueToken(app.db, store.id);
  const opened = await openNewestShow(browser, app, { token });
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "On air" }).waitFor();
  await page.getByRole("status").filter({ hasText: "Up to date" }).waitFor();
  await revokeToken(app.db, store.id, id);
  await page.getByRole("alert").filter({ hasText: "it was revoked or has expired" }).waitFor();
  expect(await page.evaluate("sessionStorage.length"), "the token is forgotten").toBe(0);
  await page.getByText("On air").waitFor({ state: "detached" }); // figures are gone with it
  await opened.screenshot("dashboard.revoked");
  await page.getByLabel("Access token").fill(store.token);
  await page.getByLabel("Access token").press("Enter");
  await page.getByRole("heading", { level: 1, name: "On air" }).waitFor();
  expectClean(opened, [/status of 401/u]);
  await opened.close();
});

test("a rate limit is explained, no call is made before it resets, and then the figures appear", async () => {
  const limited = await startApp({ subscriptionRateLimit: 1 });
  const { store, lsId } = await storeWithLiveShow(limited);
  const opened = await browser.open(`${limited.url}/dashboard?show=${lsId}#token=${store.token}`, { locale: "en-US" });
  const { page } = opened;
  await page.getByRole("heading", { level: 1, name: "On air" }).waitFor(); // this was the call of this minute
  await page.clock.install();
  let calls = 0;
  page.on("request", (request) => {
    if (request.postData()?.includes("subscription Show") === true) calls += 1;
  });
  await page.reload();
  const notice = page
    .getByRole("alert")
    .filter({ hasText: "Rate limit exceeded: 1 subscription calls in 60 seconds." });
  await notice.waitFor();
  expect(calls).toBe(1);
  const seconds = Number(/in (\d+) s/u.exec(await page.getByText(/^Next attempt at/u).innerText())?.[1]);
  expect(seconds).toBeGreaterThan(10);
  expect(seconds).toBeLessThanOrEqual(60);
  await page.getByRole("button", { name: "Try now" }).waitFor({ state: "detached" });
  await opened.screenshot("dashboard.limited");
  await page.clock.runFor((seconds - 5) * 1_000);
  expect(calls, "calls before the time that the server gave").toBe(1);
  const other = await startApp(); // by now the browser's clock is ahead of the server's
  await page.route("**/graphql", (route) => route.continue({ url: `${other.url}/graphql` }));
  await page.clock.runFor(10_000);
  await page.getByRole("heading", { level: 1, name: "On air" }).waitFor();
  expect(calls).toBe(2);
  await page.getByRole("alert").waitFor({ state: "detached" });
  expect(opened.faults.every((fault) => fault.includes("status of 429"))).toBe(true);
  await opened.close();
  await Promise.all([limited.close(), other.close()]);
});
