import { expect, onTestFinished, test } from "vitest";
import { demoStore, prepareDemo } from "../../src/cli/demo/demo.js";
import { readConfig } from "../../src/config.js";
import { openDatabase } from "../../src/database/open.js";
import { examples } from "../../src/http/pages/graphiql/graphiql.examples.js";
import { startApp, storeAt } from "../support/app.js";
import { migratedPlaceForTest } from "../support/process.js";
import { subscribe } from "../support/http/subscribe.js";

/** What answers of the demo store have at least, for the question of each tab. */
const answers: Readonly<Record<string, object>> = {
  BestProducts: {
    liveStreamAnalytics: {
      name: "Summer sale",
      topProducts: [{ product: { title: expect.any(String) }, sales: expect.any(Number) }, {}, {}],
    },
    liveStreams: { nodes: [{ id: "summer-sale" }, { name: "Denim night" }, {}] },
  },
  WeekAgainstLast: {
    storeAnalytics: { showCount: 1, currency: "EUR", previous: { showCount: 2 }, timeline: expect.any(Array) },
  },
  LiveFigures: { liveStreamAnalytics: { kpis: { viewers: { total: expect.any(Number) } } } },
  ImportProduct: { importProduct: { message: "1 product was imported.", created: 1 } },
  ExportProducts: { products: { nodes: expect.any(Array), pageInfo: { hasNextPage: false } } },
};

test("each tab of GraphiQL answers its question on the demo store, as it stands", async () => {
  const { env } = await migratedPlaceForTest(); // other files change the demo store of the shared database
  const app = await startApp({}, await openDatabase(readConfig(env), "exclusive", () => undefined));
  onTestFinished(() => app.close());
  const token = "a-token-for-the-demo-store";
  await prepareDemo(app.db, token, app.url);
  const demo = storeAt(app.url, { id: demoStore, token });
  const later = Date.now() + 60_000; // the page is opened after the store was made
  const fill = (text: string) =>
    text.replaceAll(/\{(\d+) days ago\}/gu, (_, days) => new Date(later - Number(days) * 86_400_000).toISOString());
  const names: string[] = [];
  for (const { query, variables: unfilled } of examples) {
    const [, kind, name = ""] = /^(query|mutation|subscription) (\w+)/mu.exec(query) ?? [];
    names.push(name);
    const variables = JSON.parse(fill(JSON.stringify(unfilled)));
    const leaving = new AbortController();
    const answer =
      kind === "subscription"
        ? (await subscribe(app, demo, { query, variables }, leaving.signal).next()).value
        : await demo.graphql(query, variables);
    leaving.abort();
    expect(answer.errors, name).toBeUndefined();
    expect(answer.data, name).toMatchObject(answers[name] ?? {});
  }
  expect(names).toEqual(Object.keys(answers));
});
