import { afterAll, afterEach, beforeAll } from "vitest";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "../app.js";

/** Short, so that the tests are, but longer than a busy machine takes for a whole request. */
export const timeouts = {
  headersTimeoutMs: 2_000,
  requestTimeoutMs: 4_000,
  keepAliveTimeoutMs: 1_000,
  stalledTimeoutMs: 2_000,
  checkIntervalMs: 100,
};

/** A server with short timeouts and a store, for the tests of one file. A test fails if the server logs anything. */
export function useShortTimeoutServer() {
  let app: TestApp;
  let store: TestStore;
  beforeAll(async () => {
    app = await startApp({}, testDatabase(), timeouts);
    store = await createTestStore(app);
    await (await fetch(`${app.url}/graphql`, { headers: { accept: "text/html" } })).text(); // created by the first request
  });
  afterAll(() => app.close());
  afterEach(() => {
    if (app.logged.length > 0) throw new Error(`The server logged: ${app.logged.join("")}`);
  });
  return {
    get app() {
      return app;
    },
    get store() {
      return store;
    },
  };
}
