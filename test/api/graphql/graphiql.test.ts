import { expect, test } from "vitest";
import { openTestApp } from "../../support/app.js";
import { readPage } from "../../support/browser/pages.js";

const app = await openTestApp();

test.each([
  ["GRAPHIQL=false", { graphiql: false }],
  ["PERSISTED_OPERATIONS_ONLY=true", { persistedOperationsOnly: true }],
])("%s removes GraphiQL completely", async (_, config) => {
  const without = await openTestApp(config);
  expect((await readPage(app, "/")).html).toContain("GraphiQL");
  expect((await readPage(without, "/")).html).not.toContain("GraphiQL");
  const { files } = await readPage(app, "/graphql");
  expect(files.length).toBeGreaterThan(0);
  for (const path of files) expect([path, (await fetch(`${without.url}${path}`)).status]).toEqual([path, 404]);
  const { headers } = await readPage(without, "/graphql");
  expect(headers.get("content-type")).not.toContain("text/html");
});
