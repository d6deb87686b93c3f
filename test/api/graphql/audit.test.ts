import { serverAudits } from "graphql-http";
import { describe, expect, test } from "vitest";
import { createTestStore, openTestApp } from "../../support/app.js";

// GraphQL over HTTP (https://graphql.github.io/graphql-over-http), as its reference implementation audits it.

const app = await openTestApp();
const store = await createTestStore(app);

const audits = serverAudits({
  url: () => `${app.url}/graphql`,
  fetchFn: (url: string, options: RequestInit = {}) => {
    const headers = new Headers(options.headers);
    headers.set("x-service-access-token", store.token);
    return fetch(url, { ...options, headers });
  },
});

describe.each(["by Yoga", "by the fast path, once the operations are known"])("%s", () => {
  test.each(audits.map(({ id, name, fn }) => ({ id, name, fn })))("$id $name", async ({ id, fn }) => {
    expect(await fn(), id).toMatchObject({ status: "ok" });
  });
});
