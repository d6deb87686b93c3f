// @tier all
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { storeAt, type TestStore } from "../../../support/app.js";
import { within } from "../../../support/busy.js";
import { missing, readiness, writeNumbered } from "../../../support/faults/confirmed.js";
import { endOf, placeWithStoreForTest, serve, type Serving, vitrine } from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { bulk, paths, products } from "../../../support/products.js";
import { fillDisk, mountSmallFolder } from "../../../support/process/smallFolder.js";

const token = "vt_test-of-a-full-disk";
/** More than imports of this test add, and less than the next file of the log needs. */
const lessThanLog = 12;

const disk = mountSmallFolder(150 * 1024 * 1024) ?? "";

describe.runIf(disk !== "")("the embedded database on a full disk", () => {
  test("where tables cannot grow, requests are refused with the reason, and served as soon as there is room", async () => {
    const { server, store, writer } = await serveOnSmallDisk();
    const full = await fillDisk(disk);
    await expectRefusal(server, store);
    full.empty();
    await until(async () => (await readiness(server)).status === 200, "the server to be ready again");
    await until(async () => (await importList(store, 0)).status === 200, "imports to be stored again");
    expect(await missing(store, await writer.stop())).toEqual([]);
    const { status, stderr } = await server.stop();
    expect({
      status,
      faults: stderr
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).fault),
    }).toEqual({
      status: 0,
      faults: ["disk full"],
    });
  });

  test("where the log cannot grow, the server ends with the reason, and nothing confirmed is lost", async () => {
    const { server, store, writer, env } = await serveOnSmallDisk();
    const full = await fillDisk(disk, lessThanLog);
    await expectRefusal(server, store);
    const { status, stderr } = await endOf(server);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^vitrine: The embedded database stopped: .+: No space left on device \(53100\)$/mu);
    const confirmed = await writer.stop();

    const start = await vitrine(["serve"], { ...env, PORT: "0" });
    expect(start).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/cannot be used: the disk is full \(ENOSPC\)/u),
    });
    full.empty();
    const again = await serve(env);
    onTestFinished(() => void again.process.kill("SIGKILL"));
    expect(await missing(storeAt(again.url, { id: "demo", token }), confirmed)).toEqual([]);
  });
});

async function serveOnSmallDisk() {
  const place = await placeWithStoreForTest();
  const env = {
    ...place.env,
    DATA_DIR: join(disk, "data"),
    DEMO_TOKEN: token,
    DEMO_TRAFFIC: "false",
    LOG_LEVEL: "error",
  };
  await cp(place.dataDir, env.DATA_DIR, { recursive: true });
  onTestFinished(() => rm(env.DATA_DIR, { recursive: true }));
  const server = await serve(env);
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const store = storeAt(server.url, { id: "demo", token });
  const writer = writeNumbered(store);
  await until(async () => (await readiness(server)).status === 200, "the server to be ready");
  return { server, store, writer, env };
}

async function expectRefusal(server: Serving, store: TestStore): Promise<void> {
  const unready = { status: 503, body: { status: "unavailable", database: "disk full" } };
  await until(async () => isDeepStrictEqual(await readiness(server), unready), "the server to notice", within(10_000));
  let answer = await importList(store, 0);
  for (let round = 1; answer.status === 200; round += 1) answer = await importList(store, round);
  expect(answer).toMatchObject({
    status: 503,
    body: { detail: "The disk of the database is full. Nothing was changed." },
  });
  expect(answer.ms).toBeLessThan(within(10_000));
}

async function importList(store: TestStore, round: number) {
  const begun = performance.now();
  const answer = await store.post(paths.bulk, bulk(products(2_000, () => ({ title: `Of round ${round}` }))));
  return { ...answer, ms: performance.now() - begun };
}
