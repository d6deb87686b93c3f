import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdentify } from "../../src/access/identity.js";
import { createTestStore, startApp, type TestApp } from "../support/app.js";

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

test("a flood of wrong tokens does not push out the good ones, and a wrong one that comes again is known", async () => {
  const { id, token } = await createTestStore(app);
  const [known] = await app.db.accessToken.findMany({ where: { storeId: id } });
  let queries = 0;
  const findUnique = ({ where }: { where: { hash: string } }) => {
    queries += 1;
    return Promise.resolve(where.hash === known?.hash ? known : null);
  };
  const client = new Proxy(app.db, {
    get: (target, name) => (name === "accessToken" ? { findUnique } : Reflect.get(target, name, target)),
  });
  const identify = createIdentify(client);
  const begun = performance.now();
  const again = () => Promise.all(Array.from({ length: 10 }, () => identify(token)));
  for (const identity of await again()) expect(identity).toMatchObject({ storeId: id });
  expect(queries).toBe(1);
  for (let n = 0; n < 10_000; n += 1) await identify(`vt_${n}`).catch(() => undefined);
  await expect(identify("vt_9999")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await again();
  if (performance.now() - begun < 3_000) expect(queries).toBe(10_001);
});
