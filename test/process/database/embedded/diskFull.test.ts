// @tier all
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { storeAt } from "../../../support/app.js";
import { type NumberedImports, numberedImports, readiness } from "../../../support/faults/confirmed.js";
import {
  endOf,
  makePlaceWithStore,
  type Place,
  removePlace,
  serve,
  type Serving,
  vitrine,
} from "../../../support/process.js";
import { until } from "../../../support/until.js";
import { bulk, paths, products } from "../../../support/products.js";
import { fillDisk, mountSmallFolder } from "../../../support/process/smallFolder.js";

const token = "vt_test-of-a-full-disk";
/** More than imports of this test add, and less than the next file of the log needs. */
const lessThanLog = 12;

const disk = mountSmallFolder(150 * 1024 * 1024);

describe("the embedded database on a full disk", () => {
  let place: Place;
  let env: Readonly<Record<string, string>>;
  let server: Serving;
  let imports: NumberedImports;

  beforeAll(async () => {
    place = await makePlaceWithStore();
    env = { ...place.env, DATA_DIR: join(disk, "data"), DEMO_TOKEN: token, DEMO_TRAFFIC: "false", LOG_LEVEL: "error" };
    await cp(place.dataDir, join(disk, "data"), { recursive: true });
    server = await serve(env);
    imports = numberedImports(storeAt(server.url, { id: "demo", token }));
    await imports.next();
    return async () => {
      server.process.kill("SIGKILL");
      await removePlace(place);
    };
  });

  test("where tables cannot grow, requests are refused with the reason, and served as soon as there is room", async () => {
    const full = await fillDisk(disk);
    await expectRefusal(server.url, imports);
    full.empty();
    await until(async () => (await readiness(server)).status === 200, "the server to be ready again");
    await until(async () => (await importList(server.url, 0)).status === 200, "imports to be stored again");
    await imports.next();
    expect(await imports.missing()).toEqual([]);
    const lines = server.stderr().trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).fault)).toEqual(["disk full"]);
  });

  test("where the log cannot grow, the server ends with the reason, and does not start", async () => {
    await fillDisk(disk, lessThanLog); // until the end of this test
    await expectRefusal(server.url, imports);
    const { status, stderr } = await endOf(server);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^vitrine: The embedded database stopped: .+: No space left on device \(53100\)$/mu);
    expect(await vitrine(["serve"], { ...env, PORT: "0" })).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/cannot be used: the disk is full \(ENOSPC\)/u),
    });
  });

  test("once there is room again, nothing confirmed is lost", async () => {
    const again = await serve(env);
    onTestFinished(() => void again.process.kill("SIGKILL"));
    expect(await imports.missing(storeAt(again.url, { id: "demo", token }))).toEqual([]);
  });
});

async function expectRefusal(url: string, imports: NumberedImports): Promise<void> {
  const unready = { status: 503, body: { status: "unavailable", database: "disk full" } };
  await until(async () => isDeepStrictEqual(await readiness({ url }), unready), "the server to notice");
  let answer = await importList(url, 0);
  for (let round = 1; answer.status === 200; round += 1) {
    await imports.next();
    answer = await importList(url, round);
  }
  expect(answer).toMatchObject({
    status: 503,
    body: { detail: "The disk of the database is full. Nothing was changed." },
  });
}

function importList(url: string, round: number) {
  const rows = products(2_000, () => ({ title: `Of round ${round}` }));
  return storeAt(url, { id: "demo", token }).post(paths.bulk, bulk(rows));
}
