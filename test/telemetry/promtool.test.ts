import { expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../src/lib/packageFiles.js";
import { createTestStore, startApp } from "../support/app.js";
import { scrape } from "../support/process/metrics.js";
import { lintMetrics } from "../support/process/promtool.js";
import { bulk, paths, product } from "../support/products.js";
import { analyticsPath, record, saved } from "../support/shows.js";
import { view } from "../support/events.js";

const { TEST_PROMTOOL: promtool = "" } = process.env;

test.runIf(promtool !== "")(
  "promtool finds nothing wrong with the metrics, before and after all kinds of traffic",
  async () => {
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
  },
);

test("vitrine_build_info says what runs", async () => {
  const app = await startApp();
  onTestFinished(() => app.close());
  const series = `vitrine_build_info{version="${packageVersion()}",node_version="${process.version}",engine="${app.engine === "embedded" ? "embedded" : "postgresql"}"}`;
  expect((await scrape(app.url)).get(series)).toBe(1);
});
