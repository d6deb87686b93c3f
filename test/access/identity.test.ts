import { expect, onTestFinished, test, vi } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { createIdentify } from "../../src/access/identity.js";
import { createTestStore, openTestApp } from "../support/app.js";

const app = await openTestApp();

/** The database, whose tokens are looked up by `findUnique`. */
function withTokens(findUnique: (query: { where: { hash: string } }) => Promise<unknown>) {
  return new Proxy(app.db, {
    get: (target, name) => (name === "accessToken" ? { findUnique } : Reflect.get(target, name, target)),
  });
}

test("a lookup is trusted for 3 seconds from when it was sent, however late the response", async () => {
  const { id, token } = await createTestStore(app);
  const [known] = await app.db.accessToken.findMany({ where: { storeId: id } });
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  let tookMs = 0;
  let queries = 0;
  const identify = createIdentify(
    withTokens(async ({ where }) => {
      queries += 1;
      now += tookMs;
      return where.hash === known?.hash ? known : null;
    }),
  );
  const ask = async (secret: string) => {
    await sleep(5); // the cache reads the clock once a millisecond
    await identify(secret).catch(() => undefined);
    return queries;
  };
  for (const secret of [token, "vt_wrong"]) {
    queries = 0;
    tookMs = 2_900;
    expect([await ask(secret), await ask(secret)]).toEqual([1, 1]);
    now += 3_001;
    tookMs = 3_100;
    expect([await ask(secret), await ask(secret)]).toEqual([2, 3]);
  }
});

test("a flood of invalid tokens does not evict valid ones, and a repeated invalid one is cached", async () => {
  const { id, token } = await createTestStore(app);
  const [known] = await app.db.accessToken.findMany({ where: { storeId: id } });
  let queries = 0;
  const findUnique = ({ where }: { where: { hash: string } }) => {
    queries += 1;
    return Promise.resolve(where.hash === known?.hash ? known : null);
  };
  const identify = createIdentify(withTokens(findUnique));
  const begun = performance.now();
  const again = () => Promise.all(Array.from({ length: 10 }, () => identify(token)));
  for (const identity of await again()) expect(identity).toMatchObject({ storeId: id });
  expect(queries).toBe(1);
  for (let n = 0; n < 10_000; n += 1) await identify(`vt_${n}`).catch(() => undefined);
  await expect(identify("vt_9999")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await again();
  if (performance.now() - begun < 3_000) expect(queries).toBe(10_001);
});
