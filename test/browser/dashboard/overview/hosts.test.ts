// @tier all
import { expect, test } from "vitest";
import { ago } from "../../../support/clock.js";
import { createTestStore } from "../../../support/app.js";
import { expectAccessible, expectClean, openAppInBrowser } from "../../../support/browser/browser.js";
import { answered, linkOf, place, rowsOf } from "../../../support/browser/overview.js";
import { order } from "../../../support/events.js";
import { recorded, saved } from "../../../support/shows.js";

const { app, browser } = await openAppInBrowser({ analyticsRateLimit: 0 });
const link = linkOf(app);

test("hosts are listed by their sales an hour, with those of moments of a show beside its own", async () => {
  const store = await createTestStore(app);
  const startMs = ago(86_400_000).getTime();
  const at = (minute: number) => new Date(startMs + minute * 60_000).toISOString();
  const { id } = await saved(store, { startedAt: at(0), durationSeconds: 3_600 });
  const sam = { name: "Sam Second", email: "sam@shop.example" };
  await store.graphql(
    "mutation ($id: String!, $moments: [MomentInput!]!) { saveMoments(lsId: $id, moments: $moments) { accepted } }",
    { id, moments: [{ id: "h", kind: "HOST", startedAt: at(30), endedAt: at(45), host: sam }] },
  );
  await recorded(store, id, [
    order("o1", 30, { occurredAt: at(10) }),
    order("o2", 50, { occurredAt: at(40) }),
    order("o3", 15, { occurredAt: at(50) }),
  ]);
  const opened = await browser.open(link("?days=7", store), place);
  const region = opened.page.getByRole("region", { name: "Hosts", exact: true });
  await expect
    .poll(() => rowsOf(region))
    .toEqual([
      ["Sam Second", "200.00", "200.00", "4", "0", "0.25", "50.00", "1"],
      ["Robin Host", "60.00", "60.00", "2.67", "0", "0.75", "45.00", "2"],
    ]);
  await expectAccessible(opened);
  await region.evaluate((element: any) => element.scrollIntoView());
  await opened.screenshot("overview.hosts");
  expectClean(opened);
  await opened.close();
});

test("a store without hosts has no table of them", async () => {
  const store = await createTestStore(app);
  const { id } = await saved(store, { startedAt: ago(86_400_000).toISOString(), host: null });
  await recorded(store, id, [order("o", 30, { occurredAt: ago(86_000_000).toISOString() })]);
  const opened = await browser.open(link("?days=7", store), place);
  await opened.page.getByRole("region", { name: "Shows", exact: true }).waitFor();
  await answered(opened.page, "Hosts", async () => void (await opened.page.reload()));
  expect(await opened.page.getByText("Hosts by sales an hour").count()).toBe(0);
  expectClean(opened);
  await opened.close();
});
