// @tier all
import { expect, onTestFinished, test } from "vitest";
import { packageVersion } from "../../../src/lib/packageFiles.js";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { type Ended, placeWithStoreForTest, serve } from "../../support/process.js";

function linesOf({ stderr }: Ended): Record<string, unknown>[] {
  const lines = stderr.trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== "request");
}

const common = { level: 30, time: expect.any(Number), hostname: expect.any(String) };

test("logs the version, the address and which signal stopped the server", async () => {
  const { env } = await placeWithStoreForTest();
  const server = await serve({ ...env, LOG_LEVEL: "info" });
  const ended = await server.stop("SIGINT");
  expect(ended.status).toBe(0);
  const facts = { ...common, pid: server.pid, version: packageVersion(), node: process.version, engine: "embedded" };
  expect(linesOf(ended)).toEqual([
    { ...facts, address: server.url, ms: expect.any(Number), msg: "serving" },
    { ...common, pid: server.pid, reason: "SIGINT", uptimeSeconds: expect.any(Number), msg: "stopping" },
    { ...common, pid: server.pid, reason: "SIGINT", ms: expect.any(Number), msg: "stopped" },
  ]);
});

test("logs start and stop once for several workers", async () => {
  const own = await createMigratedDatabase("lifecycle");
  onTestFinished(() => own.drop());
  const env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "1", WEB_CONCURRENCY: "2", LOG_LEVEL: "info" };
  const server = await serve(env);
  const lines = linesOf(await server.stop());
  expect(lines.map(({ msg }) => msg)).toEqual(["serving", "stopping", "stopped"]);
  expect(lines[1]).toMatchObject({ reason: "SIGTERM" });
  expect(lines[0]).toMatchObject({ pid: server.pid, engine: "postgresql", workers: 2, address: server.url });
  expect(JSON.stringify(lines)).not.toContain(new URL(own.url).password || "postgres@");
});
