// @tier all
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { variableNames } from "../../src/config.js";
import { storeAt } from "../support/app.js";
import { within } from "../support/busy.js";
import { startCollector } from "../support/process/collector.js";
import { allCommands } from "../support/process/commands.js";
import { toCsv } from "../support/catalog/csv.js";
import { createMigratedDatabase } from "../support/database/ownDatabase.js";
import { jsonOf, type Place, placeWithStoreForTest, serve, vitrine } from "../support/process.js";
import { product } from "../support/products.js";
import { freePort } from "../support/process/proxies.js";
import { show } from "../support/shows.js";

const { TEST_DATABASE_URL, TEST_REDIS_URL: redisUrl } = process.env;

type Engine = "embedded" | "postgresql";

/** What the commands before have printed. */
type Answers = Readonly<Record<string, any>>;

/** The arguments of each command, in an order in which each has something to do; `serve` runs meanwhile. */
const commands: Readonly<Record<string, (temporary: string, answers: Answers) => readonly string[]>> = {
  migrate: () => [],
  serve: () => [],
  distribute: () => [],
  "store create": () => ["acme", "--currency", "EUR"],
  "store list": () => [],
  "store show": () => ["acme"],
  "store set": () => ["acme", "--currency", "USD"],
  "store rename": () => ["acme", "Acme"],
  "token issue": () => ["acme"],
  "token list": () => ["acme"],
  "key issue": () => ["acme", "--origin", "https://shop.example"],
  "key list": () => ["acme"],
  "key revoke": (_, answers) => ["acme", answers["key issue"].id],
  "site add": () => ["acme", "de", "--type", "WEB"],
  "site list": () => ["acme"],
  import: (temporary) => ["acme", join(temporary, "products.csv")],
  export: (temporary) => ["acme", join(temporary, "exported.ndjson.gz")],
  "site remove": () => ["acme", "de", "--yes"],
  "events record": (temporary) => ["acme", "show", join(temporary, "events.ndjson")],
  "events export": (temporary) => ["acme", "show", join(temporary, "exported.ndjson")],
  "orders import": (temporary) => ["acme", join(temporary, "orders.ndjson")],
  "orders reconcile": (temporary) => ["acme", join(temporary, "orders.ndjson")],
  "attribution set": () => ["acme", "--rule", "LAST_SHOW"],
  "hook add": () => ["acme", "--from", "woocommerce"],
  "hook list": () => ["acme"],
  "hook remove": (_, answers) => ["acme", answers["hook add"].id],
  "show list": () => ["acme"],
  "analytics export": (temporary) => ["acme", join(temporary, "shows.csv")],
  "analytics rebuild": () => ["acme"],
  "viewer erase": () => ["acme", "v1"],
  "events prune": () => ["acme", "--before", "2026-01-01T00:00:00Z"],
  "show delete": () => ["acme", "show", "--force", "--yes"],
  "token rotate": (_, answers) => ["acme", answers["token issue"].id],
  "token revoke": (_, answers) => ["acme", answers["token rotate"].id],
  "store delete": () => ["acme", "--yes"],
  doctor: () => [],
  backup: (temporary) => [join(temporary, "backup")],
  restore: (temporary) => [join(temporary, "backup"), "--yes"],
};

/** Those whose work is another one on the embedded engine. A process of its own for each command takes long. */
const ofEmbedded = new Set(["migrate", "serve", "doctor", "backup", "restore"]);

/** What commands say that are for the embedded engine, or for Citus. */
const refusals: Readonly<Record<string, string>> = {
  distribute: "This database has no Citus",
  backup: "DATABASE_URL is set",
  restore: "DATABASE_URL is set",
};

/** A value of every variable. */
async function everyVariable({ env, temporary }: Place): Promise<Record<string, string>> {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const operations = join(temporary, "operations.json");
  await writeFile(operations, JSON.stringify({ a: "{ products { totalCount } }" }));
  return {
    HOST: "0.0.0.0",
    PORT: String(await freePort()),
    BASE_PATH: "/shop-api",
    DATABASE_URL: TEST_DATABASE_URL ?? "",
    DATA_DIR: env["DATA_DIR"] ?? "",
    DATABASE_POOL_MAX: "3",
    DATABASE_NAMED_STATEMENTS: "false",
    REDIS_URL: redisUrl ?? "",
    AUTO_MIGRATE: "false",
    WEB_CONCURRENCY: "2",
    MAX_CONNECTIONS: "1000",
    MAX_BODY_BYTES: "1000000",
    MAX_UPLOAD_BYTES: "2000000",
    MAX_BULK_PRODUCTS: "1000",
    ANALYTICS_RATE_LIMIT: "1000",
    COLLECT_RATE_LIMIT: "1000",
    SUBSCRIPTION_RATE_LIMIT: "1000",
    TRUST_PROXY: "1",
    PRODUCT_RATE_LIMIT: "1000",
    EVENT_RETENTION_DAYS: "30",
    CORS_ORIGINS: "https://admin.example",
    FRAME_ANCESTORS: "https://admin.example",
    TRACKING_PATH: "/shop-insights",
    GRAPHIQL: "false",
    LOG_LEVEL: "trace",
    DEMO_TOKEN: "a-demo-token-of-my-own",
    DEMO_TRAFFIC: "false",
    PERSISTED_OPERATIONS: operations,
    PERSISTED_OPERATIONS_ONLY: "true",
    REQUEST_TIMEOUT_MS: "60000",
    KEEP_ALIVE_TIMEOUT_MS: "20000",
    SHUTDOWN_GRACE_MS: "5000",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "shop",
    NODE_ENV: "production",
  };
}

async function variablesOf(engine: Engine, place: Place): Promise<Record<string, string>> {
  const { DATABASE_URL: _, DEMO_TOKEN = "", WEB_CONCURRENCY = "", ...others } = await everyVariable(place);
  if (engine === "embedded") return { ...others, DEMO_TOKEN };
  const own = await createMigratedDatabase("everycommand");
  onTestFinished(() => own.drop());
  return { ...others, DATABASE_URL: own.url, WEB_CONCURRENCY };
}

async function writeFiles(temporary: string): Promise<void> {
  await writeFile(join(temporary, "products.csv"), toCsv([product("a"), product("b")]));
  const order = { id: "1", placedAt: "2026-05-04T19:00:00Z", amount: 5 };
  await writeFile(join(temporary, "orders.ndjson"), `${JSON.stringify(order)}\n`);
  await writeFile(
    join(temporary, "events.ndjson"),
    `${JSON.stringify({ id: "e1", type: "VIEW", channel: "LIVE", viewerId: "v1" })}\n`,
  );
}

test("every command and every variable is below", async () => {
  expect(Object.keys(commands).toSorted()).toEqual(
    allCommands()
      .map(([name]) => name.replace("vitrine ", ""))
      .toSorted(),
  );
  expect(Object.keys(await everyVariable(await placeWithStoreForTest())).toSorted()).toEqual(variableNames.toSorted());
});

/** Shows are made over REST. */
async function makeShow(url: string, token: string): Promise<void> {
  const { id: _, ...fields } = show();
  const path = "/external/analytics/v1/live-streams/show";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ liveStream: fields });
  const { status } = await storeAt(url, { id: "acme", token }).fetch(path, { method: "PUT", headers, body });
  expect(status).toBe(200);
}

/** Runs commands, each on what those before have made, and gives what each has printed. */
function createRunner(engine: Engine, temporary: string, env: Readonly<Record<string, string>>) {
  const answers: Record<string, any> = {};
  const run = async (name: string): Promise<void> => {
    const args = [...name.split(" "), ...(commands[name]?.(temporary, answers) ?? []), "--json"];
    const refusal = engine === "postgresql" ? refusals[name] : undefined;
    const ended = await vitrine(args, env);
    if (refusal === undefined) answers[name] = jsonOf(args, ended);
    expect([name, ended]).toMatchObject([
      name,
      refusal === undefined ? { status: 0, stderr: "" } : { status: 1, stderr: expect.stringContaining(refusal) },
    ]);
  };
  return { answers, run };
}

const engines: readonly Engine[] = TEST_DATABASE_URL === undefined ? ["embedded"] : ["embedded", "postgresql"];

test.runIf(redisUrl !== undefined).each(engines)(
  "commands do their work from dist/ with every variable that the %s engine may have",
  async (engine) => {
    const place = await placeWithStoreForTest();
    const env = { ...place.env, ...(await variablesOf(engine, place)) };
    await writeFiles(place.temporary);
    const { answers, run } = createRunner(engine, place.temporary, env);
    const names = Object.keys(commands).filter((name) => engine === "postgresql" || ofEmbedded.has(name));

    await run("migrate");
    const server = await serve(env);
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const url = `http://127.0.0.1:${env["PORT"]}/shop-api`;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    for (const name of names.filter((each) => !["migrate", "serve", "restore"].includes(each))) {
      await run(name);
      if (name === "token issue") await makeShow(url, answers[name].token);
    }
    expect(answers["doctor"].checks).toContainEqual(expect.objectContaining({ name: "redis", status: "ok" }));
    const { status, stderr } = await server.stop();
    // Warnings come where the machine is busy, as of a Redis that answers late.
    expect([status, stderr.split("\n").filter((line) => /"level":[56]0/u.test(line))]).toEqual([0, []]);
    await run("restore");
  },
  within(300_000),
);
