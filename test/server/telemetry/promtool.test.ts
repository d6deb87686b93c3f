// @tier all
import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { createTestStore, startApp } from "../../support/app.js";
import { lintMetrics } from "../../support/process/promtool.js";
import { needed } from "../../support/run/programs.js";
import { bulk, paths, product } from "../../support/products.js";
import { analyticsPath, record, saved } from "../../support/shows.js";
import { view } from "../../support/events.js";

const promtool = needed("TEST_PROMTOOL");

test("promtool finds nothing wrong with the metrics, before and after all kinds of traffic", async () => {
  const app = await startApp({ analyticsRateLimit: 1 });
  onTestFinished(() => app.close());
  expect(await lintMetrics(promtool, app.url)).toBe("");
  const store = await createTestStore(app);
  await store.post(paths.bulk, bulk([product("a"), product("b")]));
  await store.post(paths.one, { product: {} });
  await store.get(paths.of("a"));
  await store.get(paths.of("nope"));
  await store.graphql('{ product(productId: "a") { id } }');
  const { id: lsId } = await saved(store);
  await store.graphql(record, { lsId, events: [view("e"), view("e")] });
  for (let n = 0; n < 3; n += 1) await store.get(analyticsPath(lsId));
  await fetch(`${app.url}/nowhere`, { method: "POST" });
  expect(await lintMetrics(promtool, app.url)).toBe("");
});

test("promtool accepts the alerts", () => {
  const { status, stdout, stderr } = spawnSync(promtool, ["check", "rules", "docs/alerts.yml"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("12 rules found");
});
