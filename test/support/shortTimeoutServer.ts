import { afterAll, afterEach, beforeAll } from "vitest";
import { createTestStore, startApp, type TestApp, testDatabase, type TestStore } from "./app.js";

/** Short, so that the tests are. Bounds of tests leave room for a busy machine. */
export const timeouts = {
  headersTimeoutMs: 600,
  requestTimeoutMs: 1_200,
  keepAliveTimeoutMs: 500,
  stalledTimeoutMs: 800,
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
