import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createTestStore, openTestApp } from "../support/app.js";
import { examplesOf } from "../support/docs.js";
import { saved } from "../support/shows.js";

const app = await openTestApp();

test("the overview's operations in the documentation run without errors, and are those that the page sends", async () => {
  const store = await createTestStore(app);
  for (const id of ["autumn-looks", "summer-sale"]) await saved(store, { id });
  const markdown = await readFile(new URL("../../docs/own-dashboard.md", import.meta.url), "utf8");
  const examples = examplesOf(markdown).filter(({ block }) => block.info === "graphql");
  const fields: string[] = [];
  for (const { block, variables } of examples) {
    const { data, errors } = await store.graphql(block.text, variables ?? {});
    expect(errors, `line ${block.line}`).toBeUndefined();
    fields.push(...Object.keys(data));
  }
  expect(fields).toEqual(["storeAnalytics", "liveStreams", "productPerformance"]);
});
