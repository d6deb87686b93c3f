// @tier all
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmbedded } from "../../../../src/database/embedded/engine.js";
import { connect, embeddedConnection } from "../../../../src/database/open.js";
import { createReadinessCheck } from "../../../../src/http/health.js";
import { migratedPlaceForTest } from "../../../support/process.js";

const ready = { status: "ready", database: "ok" };

test("the embedded engine is ready while its one session is busy, and not once it has stopped", async () => {
  const { dataDir } = await migratedPlaceForTest();
  const server = await startEmbedded({ folder: join(dataDir, "postgres") });
  const connection = embeddedConnection(server.socketFolder);
  const database = connect(connection, () => undefined);
  const check = createReadinessCheck(database.readiness);
  expect(await check()).toEqual(ready);
  const readyAt = performance.now();

  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let isBusy = false;
  const busy = database.client.$transaction(
    async (transaction) => {
      await transaction.$queryRaw`SELECT 1`;
      isBusy = true;
      await ended;
    },
    { timeout: 60_000 },
  );
  await expect.poll(() => isBusy).toBe(true);
  await expect.poll(() => performance.now() - readyAt).toBeGreaterThan(1_000);
  const answers = await Promise.all([check(), check()]); // asked anew: that lasts for as long as checks may
  expect(answers).toEqual([ready, ready]);
  end();
  await busy;

  await server.close();
  await expect.poll(check).toEqual({ status: "unavailable", database: "unreachable" });
  await database.close();
});
