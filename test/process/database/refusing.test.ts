// @engine postgresql
import { afterEach, beforeAll, expect, test } from "vitest";
import { migrate } from "../../../src/database/migrations/migrate.js";
import { connect } from "../../../src/database/open.js";
import { createTestStore, startApp, type TestApp, type TestStore } from "../../support/app.js";
import { cli } from "../../support/process/cli.js";
import { type Cluster, createCluster } from "../../support/process/cluster.js";
import { numberedImports, readiness } from "../../support/faults/confirmed.js";
import { type Call, calls, waysOf } from "../../support/faults/outage.js";
import { onServer } from "../../support/database/postgresql.js";
import { until } from "../../support/until.js";
import { bulk, longRows, paths, products } from "../../support/products.js";
import { saved } from "../../support/shows.js";

interface Fault {
  /** What is done to the server, and how it is undone; run one statement after the other. */
  readonly break: readonly string[];
  readonly mend: readonly string[];
  /** `database` at /readyz, and `fault` in the log. */
  readonly readiness: string;
  /** Another `fault` that some statements meet, or that passes quickly. */
  readonly other?: string;
  /** PostgreSQL's own words, in the log. */
  readonly logged: RegExp;
  readonly doctor: { readonly name: string; readonly detail: RegExp; readonly advice: string };
}

const restartAsStandby = "restart as standby";
const endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'";
const privileges = "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public";
const asOwner = "As the owner of the tables or a superuser, run:";
const isReadOnly = /in a read-only transaction|during recovery/u;
const login = /log in|authentication/iu;

const faults: Readonly<Record<string, Fault>> = {
  "a standby, until it is promoted": {
    break: [restartAsStandby],
    mend: ["SELECT pg_promote()"],
    readiness: "read-only",
    logged: isReadOnly,
    doctor: { name: "access", detail: /standby/u, advice: "SELECT pg_promote();" },
  },
  "read-only by its configuration, for sessions that are open": {
    break: ["ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()"],
    mend: ["ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()"],
    readiness: "read-only",
    logged: isReadOnly,
    doctor: {
      name: "access",
      detail: /read-only/u,
      advice: "ALTER SYSTEM SET default_transaction_read_only = off; SELECT pg_reload_conf();",
    },
  },
  "read-only for the role, in new sessions": {
    break: ["ALTER ROLE shop SET default_transaction_read_only = on", endSessions],
    mend: ["ALTER ROLE shop RESET default_transaction_read_only"],
    readiness: "read-only",
    logged: isReadOnly,
    doctor: { name: "access", detail: /read-only/u, advice: "ALTER ROLE shop RESET default_transaction_read_only;" },
  },
  "another password, 28P01": {
    break: ["ALTER ROLE shop PASSWORD 'rotated'", endSessions],
    mend: ["ALTER ROLE shop PASSWORD 'first'"],
    readiness: "login refused",
    logged: /password authentication failed for user "shop"/u,
    doctor: { name: "database", detail: login, advice: "ALTER ROLE shop PASSWORD '…';" },
  },
  "a role that may not log in, 28000": {
    break: ["ALTER ROLE shop NOLOGIN", endSessions],
    mend: ["ALTER ROLE shop LOGIN"],
    readiness: "login refused",
    logged: /role "shop" is not permitted to log in/u,
    doctor: { name: "database", detail: /./u, advice: "ALTER ROLE shop LOGIN;" },
  },
  "a role that may not connect, 42501": {
    break: ["REVOKE CONNECT ON DATABASE shop FROM PUBLIC", endSessions],
    mend: ["GRANT CONNECT ON DATABASE shop TO PUBLIC"],
    readiness: "privileges missing",
    logged: /permission denied for database "shop"/u,
    doctor: { name: "database", detail: /permission denied/u, advice: "GRANT CONNECT ON DATABASE shop TO shop;" },
  },
  "a database that takes no connections, 55000": {
    break: ["ALTER DATABASE shop ALLOW_CONNECTIONS false", endSessions],
    mend: ["ALTER DATABASE shop ALLOW_CONNECTIONS true"],
    readiness: "login refused",
    logged: /not currently accepting connections/u,
    doctor: {
      name: "database",
      detail: /not currently accepting/u,
      advice: "ALTER DATABASE shop ALLOW_CONNECTIONS true;",
    },
  },
  "no such database, 3D000": {
    break: ["ALTER DATABASE shop ALLOW_CONNECTIONS false", endSessions, "ALTER DATABASE shop RENAME TO away"],
    mend: ["ALTER DATABASE away ALLOW_CONNECTIONS true", "ALTER DATABASE away RENAME TO shop"],
    readiness: "database missing",
    other: "login refused",
    logged: /database "shop" does not exist/u,
    doctor: { name: "database", detail: /does not exist/u, advice: "CREATE DATABASE shop OWNER shop;" },
  },
  "privileges on tables that are gone, 42501": {
    break: ["shop: REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public FROM shop"],
    mend: [`shop: GRANT ${privileges} TO shop`],
    readiness: "privileges missing",
    logged: /permission denied for table/u,
    doctor: { name: "access", detail: /INSERT on "AccessToken"/u, advice: `${asOwner} GRANT ${privileges} TO shop;` },
  },
  "the privilege on the schema that is gone, 42P01": {
    break: ["shop: REVOKE USAGE ON SCHEMA public FROM shop, PUBLIC"],
    mend: ["shop: GRANT USAGE ON SCHEMA public TO shop, PUBLIC"],
    readiness: "privileges missing",
    other: "not migrated",
    logged: /relation "\w+" does not exist/u,
    doctor: { name: "access", detail: /schema public/u, advice: "GRANT USAGE ON SCHEMA public TO shop;" },
  },
  "tables that are gone, 42P01": {
    break: [
      "shop: ALTER SCHEMA public RENAME TO away; CREATE SCHEMA public; GRANT USAGE, CREATE ON SCHEMA public TO shop",
    ],
    mend: ["shop: DROP SCHEMA public; ALTER SCHEMA away RENAME TO public"],
    readiness: "not migrated",
    logged: /relation "\w+" does not exist/u,
    doctor: { name: "migrations", detail: /not applied yet/u, advice: "npx vitrine migrate" },
  },
};

const quiet = () => undefined;
let cluster: Cluster;
let url: string;
let app: TestApp;
let store: TestStore;
let all: readonly Call[];

beforeAll(async () => {
  cluster = await createCluster();
  await cluster.start();
  return () => cluster.remove();
});
beforeAll(async () => {
  await onServer(cluster.url, "CREATE ROLE shop LOGIN PASSWORD 'first'");
  await onServer(cluster.url, "CREATE DATABASE shop");
  url = Object.assign(new URL(cluster.url), { username: "shop", password: "first", pathname: "/shop" }).href;
  await run("shop: GRANT USAGE, CREATE ON SCHEMA public TO shop");
  await migrate({ connectionString: url }, quiet);
  app = await startApp({ analyticsRateLimit: 0, logLevel: "info" }, connect({ connectionString: url, max: 4 }, quiet));
  store = await createTestStore(app);
  const { id: lsId } = await saved(store);
  await store.post(paths.bulk, bulk(products(10)));
  all = calls(lsId, longRows);
  return () => app.close();
});

let mend: readonly string[] = [];
afterEach(async () => {
  for (const step of mend) await run(step).catch(quiet); // done already unless a test failed
});

/** Runs a statement as superuser. */
async function run(step: string): Promise<void> {
  if (step === restartAsStandby) return cluster.restartAsStandby();
  const [, statement] = /^shop: (.*)$/u.exec(step) ?? [];
  const target = Object.assign(new URL(cluster.url), statement !== undefined && { pathname: "/shop" }).href;
  await onServer(target, statement ?? step);
}

test.each(Object.entries(faults))(
  "a PostgreSQL server that refuses, as %s: requests get UNAVAILABLE, the log and doctor say why, and it recovers by itself",
  async (_, fault) => {
    const imports = numberedImports(store);
    await imports.next();
    app.logged.length = 0;
    mend = fault.mend;
    const during = waysOf(store, all);
    for (const step of fault.break) await Promise.all([run(step), imports.next()]);
    expect(["done", "unavailable"]).toEqual(expect.arrayContaining([...(await during)]));
    const refused = { status: 503, body: { status: "unavailable", database: fault.readiness } };
    await until(async () => JSON.stringify(await readiness(app)) === JSON.stringify(refused), fault.readiness);
    const refusing = async () => (await waysOf(store, all)).includes("unavailable");
    await until(refusing, "requests to be refused"); // not those that only read, where that is allowed
    await imports.next();
    expect(await checkOf(url, fault.doctor.name)).toMatchObject({
      status: expect.stringMatching(/failed|warning/u),
      detail: expect.stringMatching(fault.doctor.detail),
      advice: expect.stringContaining(fault.doctor.advice),
    });
    for (const step of fault.mend) await run(step);
    await until(async () => (await readiness(app)).status === 200, "the server to be ready again");
    await until(async () => String(await waysOf(store, all)) === "done", "requests to be served again");
    expect(await imports.missing()).toEqual([]);
    const linesOf = (level: number) =>
      app.logged
        .map((line): { level: number; fault: string; err: string } => JSON.parse(line))
        .filter((line) => line.level === level);
    const lines = linesOf(50);
    await until(() => linesOf(30).length === lines.length, "a line for the end of each fault");
    expect(linesOf(60)).toEqual([]);
    const logged = lines.map((line) => line.fault);
    expect(logged, "one line for each kind").toEqual([...new Set(logged)]);
    expect([fault.readiness, fault.other]).toEqual(expect.arrayContaining(logged));
    expect(lines.map(({ err }) => err).join("\n")).toMatch(fault.logged);
  },
);

async function checkOf(databaseUrl: string, name: string): Promise<unknown> {
  const { stdout } = await cli(["doctor", "--json"], { DATABASE_URL: databaseUrl, PORT: "0" });
  const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
  return checks.find((check) => check.name === name);
}
