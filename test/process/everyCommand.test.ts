// @tier long
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { storeAt } from "../support/app.js";
import { toCsv } from "../support/catalog/csv.js";
import { createMigratedDatabase } from "../support/database/ownDatabase.js";
import { type Ended, jsonOf, type Place, placeWithStoreForTest, serve } from "../support/process.js";
import { startCollector } from "../support/process/collector.js";
import { allCommands, callOf } from "../support/process/commands.js";
import { freePort } from "../support/process/proxies.js";
import { everyVariable } from "../support/process/variables.js";
import { product } from "../support/products.js";
import { needed } from "../support/run/programs.js";
import { show } from "../support/shows.js";

type Engine = "embedded" | "postgresql";

/** What commands say that are for the embedded engine, or for Citus. */
const refusals: Readonly<Record<string, string>> = {
  distribute: "This database has no Citus",
  backup: "DATABASE_URL is set",
  restore: "DATABASE_URL is set",
};

/** Those whose work is another one on the embedded engine. */
const ofEmbedded = new Set(["migrate", "doctor", "backup", "restore"]);

/** Commands in an order in which each has something to do: those come last that remove something, and those about the whole. */
const order = allCommands().toSorted(([a], [b]) => rank(a) - rank(b));

function rank(name: string): number {
  if (!name.includes(" ") && !["import", "export"].includes(name)) return 4;
  if (name.endsWith(" delete")) return name === "store delete" ? 3 : 2;
  return /remove|revoke|erase|prune/u.test(name) ? 1 : 0;
}

/** Files that commands read. Others write theirs. */
async function filesIn(folder: string): Promise<Record<string, string>> {
  const orders = JSON.stringify({ id: "1", placedAt: "2026-05-04T19:00:00Z", amount: 5 });
  const events = JSON.stringify({ id: "e1", type: "VIEW", channel: "LIVE", viewerId: "a" });
  const contents = { "products.csv": toCsv([product("a")]), "orders.ndjson": orders, "events.ndjson": events };
  for (const [name, content] of Object.entries(contents)) await writeFile(join(folder, name), `${content}\n`);
  return {
    import: "products.csv",
    "events record": "events.ndjson",
    "orders import": "orders.ndjson",
    "orders reconcile": "orders.ndjson",
    backup: "backup",
    restore: "backup",
  };
}

/** Every variable with a value other than its default, as far as the engine may have it. */
async function variablesOf(engine: Engine, { env, temporary }: Place): Promise<Record<string, string>> {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const operations = join(temporary, "operations.json");
  await writeFile(operations, JSON.stringify({ a: "{ products { totalCount } }" }));
  const {
    DATABASE_URL: _,
    DEMO_TOKEN = "",
    WEB_CONCURRENCY = "",
    ...others
  } = Object.fromEntries(everyVariable.map(({ name, other }) => [name, other]));
  const all = {
    ...others,
    ...env,
    HOST: "0.0.0.0",
    PORT: String(await freePort()),
    REDIS_URL: needed("TEST_REDIS_URL"),
    PERSISTED_OPERATIONS: operations,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  if (engine === "embedded") return { ...all, DEMO_TOKEN };
  const own = await createMigratedDatabase("everycommand");
  onTestFinished(() => own.drop());
  return { ...all, DATABASE_URL: own.url, WEB_CONCURRENCY };
}

/** Shows are made over REST. */
async function makeShow(url: string, token: string): Promise<void> {
  const { id: _, ...fields } = show();
  const path = "/external/analytics/v1/live-streams/a";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ liveStream: fields });
  const { status } = await storeAt(url, { id: "a", token }).fetch(path, { method: "PUT", headers, body });
  expect(status).toBe(200);
}

/** Runs commands of dist/, in a process. */
function startRunner(env: Readonly<Record<string, string>>) {
  const script = fileURLToPath(new URL("../support/process/runCommands.js", import.meta.url));
  const { PATH = "" } = process.env;
  const child = fork(script, { env: { PATH, ...env }, serialization: "json" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return async (args: readonly string[]): Promise<Ended> => {
    const answer = once(child, "message");
    child.send(args);
    return (await answer)[0] as Ended;
  };
}

test.each<Engine>(["embedded", "postgresql"])(
  "commands do their work from dist/ with every variable that the %s engine may have",
  async (engine) => {
    const place = await placeWithStoreForTest();
    const env = await variablesOf(engine, place);
    const files = await filesIn(place.temporary);
    const runHere = startRunner(env);
    const ids = new Map<string, string>();
    const run = async (name: string): Promise<any> => {
      const [, command = expect.fail(name)] = order.find(([each]) => each === name) ?? [];
      const group = name.split(" ")[0] ?? "";
      const values = { file: join(place.temporary, files[name] ?? "written.ndjson"), id: ids.get(group) ?? "" };
      const valueOf = (argument: string): string | undefined =>
        name === "events prune" && argument === "lsid" ? undefined : (Reflect.get(values, argument) ?? "a"); // of archived ones
      const args = [...callOf(name, command, valueOf), "--json"];
      const ended = await runHere(args);
      const refusal = engine === "postgresql" ? refusals[name] : undefined;
      if (refusal !== undefined)
        return expect([name, ended.status, ended.stderr]).toEqual([name, 1, expect.stringContaining(refusal)]);
      const answer = jsonOf(args, ended);
      expect([name, ended.stderr]).toEqual([name, ""]);
      if (typeof answer.id === "string") ids.set(group, answer.id);
      return answer;
    };

    await run("migrate");
    const server = await serve(env);
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const url = `http://127.0.0.1:${env["PORT"]}${env["BASE_PATH"]}`;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    for (const [name] of order) {
      if (name === "serve" || name === "restore" || (engine === "embedded" && !ofEmbedded.has(name))) continue;
      const answer = await run(name);
      if (name === "token issue") await makeShow(url, answer.token);
      if (name === "doctor") {
        expect(answer.checks).toContainEqual(expect.objectContaining({ name: "redis", status: "ok" }));
      }
    }
    const { status, stderr } = await server.stop();
    expect([status, stderr.split("\n").filter((line) => /"level":[56]0/u.test(line))]).toEqual([0, []]);
    await run("restore");
  },
  60_000, // for forty commands and a server
);
