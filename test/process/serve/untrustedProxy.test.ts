// @tier all
import { expect, onTestFinished, test } from "vitest";
import { cli, cliJson } from "../../support/process/cli.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { serve } from "../../support/process.js";
import { until } from "../../support/until.js";

const requests = 6;

/** Starts a server on a database of its own. */
async function open(variables: Readonly<Record<string, string>>) {
  const own = await createMigratedDatabase("doctorproxy");
  onTestFinished(() => own.drop());
  const env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "2", ...variables };
  await cli(["store", "create", "acme"], env);
  const { key } = await cliJson(["key", "issue", "acme", "--origin", "https://shop.example"], env);
  const server = await serve(env);
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const examine = async () => {
    const { checks } = await cliJson(["doctor"], { ...env, PORT: new URL(server.url).port });
    return checks.filter(({ name }: { name: string }) => name === "proxy");
  };
  const send = async (headers: Readonly<Record<string, string>>) => {
    const body = JSON.stringify({ key, show: "none", events: [] });
    const all = { "content-type": "text/plain", connection: "close", ...headers }; // to each process in turn
    for (let n = 0; n < requests; n += 1)
      await fetch(`${server.url}/collect/v1`, { method: "POST", headers: all, body });
  };
  const warnings = () => (server.stdout() + server.stderr()).split("TRUST_PROXY").length - 1;
  return { server, examine, send, warnings };
}

test("requests through a proxy that is not trusted are one warning of two processes, and one of doctor", async () => {
  const untrusting = await open({ WEB_CONCURRENCY: "2" });
  await untrusting.send({});
  expect(await untrusting.examine()).toEqual([expect.objectContaining({ status: "ok" })]);
  await untrusting.send({ "x-forwarded-for": "203.0.113.9" });
  await until(() => untrusting.warnings() > 0, "a warning");
  expect(await untrusting.examine()).toEqual([
    {
      name: "proxy",
      status: "warning",
      detail: `requests to /collect/v1 that were counted by the address of a proxy, as if from one shopper: ${requests}`,
      advice: "Have each proxy set X-Forwarded-For, and set TRUST_PROXY to the number of proxies (it is 0).",
    },
  ]);
  await untrusting.server.stop(); // all that it logs is read
  expect(untrusting.warnings()).toBe(1);
});

test("so are those through one that is trusted and leaves out the address", async () => {
  const trusting = await open({ TRUST_PROXY: "1" });
  await trusting.send({ "x-forwarded-for": "203.0.113.9" });
  expect(await trusting.examine()).toEqual([expect.objectContaining({ status: "ok" })]);
  await trusting.send({ "x-forwarded-proto": "https" });
  expect(await trusting.examine()).toEqual([expect.objectContaining({ status: "warning" })]);
  await trusting.server.stop();
  expect(trusting.warnings()).toBe(1);
});
