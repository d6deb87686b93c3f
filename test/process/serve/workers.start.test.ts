// @tier all
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { createMigratedDatabase } from "../../support/database/ownDatabase.js";
import { endOf, start } from "../../support/process.js";
import { needed } from "../../support/run/programs.js";

const redis = { REDIS_URL: needed("TEST_REDIS_URL") };

describe("WEB_CONCURRENCY=2, when it cannot start", () => {
  let env: Record<string, string>;
  beforeAll(async () => {
    const own = await createMigratedDatabase("workers_start");
    env = { DATABASE_URL: own.url, DATABASE_POOL_MAX: "3", WEB_CONCURRENCY: "2" };
    return () => own.drop();
  });

  test.each([
    ["2", {}],
    ["1", redis],
  ])("a port that is taken is refused with status 1 and one line: %s processes, %j", async (count, more) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const variables = { ...env, ...more, WEB_CONCURRENCY: count, PORT: String(port) };
    const refused = await endOf(start(["serve"], variables));
    other.close();
    const stderr = `vitrine: The port ${port} on 127.0.0.1 is in use. Stop the program that listens there, or set PORT to another port.\n`;
    expect(refused).toEqual({ status: 1, stdout: "", stderr });
  });

  test("a database that cannot be reached is refused with status 4 and one line", async () => {
    const DATABASE_URL = "postgres://127.0.0.1:1/none";
    const refused = await endOf(start(["serve"], { ...env, DATABASE_URL, PORT: "0" }));
    expect(refused).toEqual({ status: 4, stdout: "", stderr: expect.stringMatching(/^vitrine: [^\n]+\n$/u) });
  });
});
