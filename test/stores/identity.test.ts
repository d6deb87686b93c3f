import { describe, expect, test } from "vitest";
import { createIdentify } from "../../src/stores/token.js";
import { createFindKey, issueKey } from "../../src/stores/publicKey.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { stopClock } from "../support/clock.js";

const app = await openTestApp();

type Find = (query: { where: { hash?: string; key?: string } }) => Promise<unknown>;

/** The database, whose tokens or public keys are looked up by `findUnique`. */
function withLookups(table: "accessToken" | "publicKey", findUnique: Find) {
  return new Proxy(app.db, {
    get: (target, name) => (name === table ? { findUnique } : Reflect.get(target, name, target)),
  });
}

describe("a lookup is trusted for 3 seconds from when it was sent, however late the response", () => {
  /** Looks each of the secrets up by lookups that take almost as long as they are trusted, or longer. */
  async function expectTrust(
    secrets: readonly string[],
    findKnown: Find,
    createAsk: (find: Find) => (secret: string) => Promise<unknown>,
  ) {
    const clock = stopClock();
    let tookMs = 0;
    let queries = 0;
    const ask = createAsk((query) => {
      queries += 1;
      clock.pass(tookMs);
      return findKnown(query);
    });
    const queriesOf = async (secret: string) => {
      await ask(secret).catch(() => undefined);
      return queries;
    };
    for (const secret of secrets) {
      queries = 0;
      tookMs = 2_900;
      expect([await queriesOf(secret), await queriesOf(secret)]).toEqual([1, 1]);
      clock.pass(3_001);
      tookMs = 3_100;
      expect([await queriesOf(secret), await queriesOf(secret)]).toEqual([2, 3]);
    }
  }

  test("of a token", async () => {
    const { id, token } = await createTestStore(app);
    const [known] = await app.db.accessToken.findMany({ where: { storeId: id } });
    expect(known).toBeDefined();
    const find: Find = ({ where }) => Promise.resolve(where.hash === known?.hash ? known : null);
    await expectTrust([token, "vt_wrong"], find, (each) => createIdentify(withLookups("accessToken", each)));
  });

  test("of a public key", async () => {
    const { id } = await createTestStore(app);
    const { key } = await issueKey(app.db, id, { origins: ["https://shop.example"] });
    const known = await app.db.publicKey.findUnique({ where: { key } });
    expect(known).not.toBeNull();
    const find: Find = ({ where }) => Promise.resolve(where.key === key ? known : null);
    await expectTrust([key, `vp_${"x".repeat(22)}`], find, (each) => createFindKey(withLookups("publicKey", each)));
  });
});

test("a flood of invalid tokens does not evict valid ones, and a repeated invalid one is cached", async () => {
  const { id, token } = await createTestStore(app);
  const [known] = await app.db.accessToken.findMany({ where: { storeId: id } });
  let queries = 0;
  const findUnique: Find = ({ where }) => {
    queries += 1;
    return Promise.resolve(where.hash === known?.hash ? known : null);
  };
  const identify = createIdentify(withLookups("accessToken", findUnique));
  stopClock(); // all that follows comes while the lookups are trusted
  const again = () => Promise.all(Array.from({ length: 10 }, () => identify(token)));
  for (const identity of await again()) expect(identity).toMatchObject({ storeId: id });
  expect(queries).toBe(1);
  for (let n = 0; n < 10_000; n += 1) await identify(`vt_${n}`).catch(() => undefined);
  await expect(identify("vt_9999")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await again();
  expect(queries).toBe(10_001);
});
