import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, inject, onTestFinished } from "vitest";
import { issueToken } from "../../src/stores/token.js";
import { createStore } from "../../src/stores/store.js";
import type { LiveFeed } from "../../src/schema/context.js";
import { createApp } from "../../src/app.js";
import { loggedError } from "../../src/cli/serve/run.js";
import { type Config, readConfig } from "../../src/config.js";
import { connect, type OpenDatabase } from "../../src/database/open.js";
import { schema } from "../../src/api/graphql/schema.js";
import type { DemoShop } from "../../src/server/pages/demo/demoPage.js";
import { listen, type ServerTimeouts } from "../../src/server/server.js";
import { prepareRest } from "../../src/api/rest/handler.js";
import { type Answer, call } from "./call.js";
import { recordStatement, observedClient } from "./citus/recording.js";
import { givenDatabase } from "./database/database.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The folders of embedded databases, to copy; see template.setup.ts. */
    templates: { readonly empty: string; readonly migrated: string; readonly withStore: string };
    /** Where statements are written down; see citus/recording.ts. */
    statementsFolder: string;
  }
}

/** The service on a port of its own, on the engine under test. */
export interface TestApp {
  readonly url: string;
  readonly db: OpenDatabase["client"];
  readonly engine: OpenDatabase["engine"]["kind"];
  readonly feed: LiveFeed;
  /** What the server logged, one JSON line each, but for the lines of requests. */
  readonly logged: string[];
  showDemoToken(token: string): void;
  showDemoShop(shop: DemoShop): void;
  /** The lines of requests. */
  readonly accessLog: string[];
  close(): Promise<void>;
}

/** A store of a test's own. */
export interface TestStore {
  readonly id: string;
  readonly token: string;
  /** Of the service. */
  readonly url: string;
  /** Calls a path of the service with the store's token. */
  fetch(path: string, options?: RequestInit): Promise<Response>;
  /** Calls a path with a JSON body. */
  post(path: string, body: unknown): Promise<Answer>;
  get(path: string): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Runs a GraphQL operation; the HTTP status must be 200. */
  graphql(query: string, variables?: object): Promise<{ data?: any; errors?: any[] }>;
}

/** Opens the database under test. @param onStatement receives the text of each statement that is sent */
export function testDatabase(onStatement: (sql: string) => void = () => undefined): OpenDatabase {
  const { connection } = givenDatabase();
  const folder = inject("statementsFolder");
  const Client = observedClient((sql) => {
    recordStatement(folder, sql);
    onStatement(sql);
  });
  return connect({ ...connection, Client }, () => undefined);
}

/** Opens the database under test for the tests of a file, whose end closes it. @param onStatement as in testDatabase */
export function openTestDatabase(onStatement?: (sql: string) => void): OpenDatabase {
  const database = testDatabase(onStatement);
  afterAll(() => database.close());
  return database;
}

/** Opens the database under test for one test, whose end closes it. @param onStatement as in testDatabase */
export function openConnections(onStatement?: (sql: string) => void): OpenDatabase {
  const database = testDatabase(onStatement);
  onTestFinished(() => database.close());
  return database;
}

/** For all apps of a worker. */
const preparedRest = prepareRest(schema);

/** Starts the service, on the database under test unless another is given, which is then closed with it. */
export async function startApp(
  overrides: Partial<Config> = {},
  database: OpenDatabase = testDatabase(),
  timeouts: Partial<ServerTimeouts> = {},
): Promise<TestApp> {
  const logged: string[] = [];
  const accessLog: string[] = [];
  const write = (line: string) => void (line.includes('"msg":"request"') ? accessLog : logged).push(line);
  const log = pino({ level: overrides.logLevel ?? "info", serializers: { err: loggedError } }, { write });
  const config = { ...readConfig({}), ...overrides, host: "127.0.0.1", port: 0 };
  const app = await createApp(config, database, log, { rest: preparedRest });
  const server = await listen(app.handler, { ...config, ...timeouts });
  return {
    url: server.url,
    feed: app.feed,
    db: database.client,
    engine: database.engine.kind,
    logged,
    showDemoToken: (token) => app.showDemoToken(token),
    showDemoShop: (shop) => app.showDemoShop(shop),
    accessLog,
    async close() {
      await server.stop(0);
      await app.close();
      await database.close();
    },
  };
}

/** Starts the service for the tests of a file, whose end stops it. */
export async function openTestApp(...options: Parameters<typeof startApp>): Promise<TestApp> {
  const app = await startApp(...options);
  afterAll(() => app.close());
  return app;
}

export async function createTestStore({ url, db }: Pick<TestApp, "url" | "db">): Promise<TestStore> {
  const id = `store-${randomUUID()}`;
  await createStore(db, id, "Test store");
  const { token } = await issueToken(db, id);
  return storeAt(url, { id, token });
}

/** Calls of a store that exists. */
export function storeAt(url: string, { id, token }: Pick<TestStore, "id" | "token">): TestStore {
  const own = { "X-Service-Access-Token": token };
  const postJson = (path: string, body: unknown) => {
    const headers = { ...own, "content-type": "application/json" };
    return call(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  };
  return {
    id,
    token,
    url,
    fetch: (path, { headers, ...options } = {}) =>
      fetch(`${url}${path}`, { ...options, headers: { ...own, ...(headers as Record<string, string>) } }),
    post: postJson,
    get: (path) => call(`${url}${path}`, { method: "GET", headers: own }),
    delete: (path) => call(`${url}${path}`, { method: "DELETE", headers: own }),
    graphql: async (query, variables = {}) => {
      const { status, body } = await postJson("/graphql", { query, variables });
      if (status !== 200) throw new Error(`GraphQL answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
  };
}
