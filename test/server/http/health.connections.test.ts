// @engine postgresql
import { expect, test } from "vitest";
import { startApp, testDatabase } from "../../support/app.js";

test("the service is ready while all connections are busy", async () => {
  const database = testDatabase();
  const app = await startApp({}, database);
  const isReady = async () => (await fetch(`${app.url}/readyz`)).status;
  let running = 0;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const busy = Array.from({ length: database.connection.max ?? 10 }, () =>
    database.client.$transaction(() => ((running += 1), ended)),
  );
  await expect.poll(() => running).toBe(busy.length);
  expect(await isReady()).toBe(200);
  end();
  await Promise.all(busy);
  await app.close();
});
