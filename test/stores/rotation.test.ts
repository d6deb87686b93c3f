import { expect, test } from "vitest";
import { revokeToken, rotateToken, undoRotation } from "../../src/stores/token.replace.js";
import { issueToken, listTokens } from "../../src/stores/token.js";
import { createTestStore, openConnections, openTestApp } from "../support/app.js";

const app = await openTestApp();

const grace = { graceMs: 60_000 };

async function tokenOfNewStore() {
  const { id: store } = await createTestStore(app);
  const { id } = await issueToken(app.db, store, { label: "shop" });
  const one = async (which: string) => (await listTokens(app.db, store)).find((token) => token.id === which);
  return { store, id, one };
}

test("of concurrent rotations of one token, one succeeds, and the others name its successor", async () => {
  const { store, id } = await tokenOfNewStore();
  const databases = Array.from({ length: 4 }, () => openConnections().client);
  const done = await Promise.allSettled(databases.flatMap((db) => [1, 2].map(() => rotateToken(db, store, id, grace))));
  const [winner, ...others] = done.filter(({ status }) => status === "fulfilled");
  expect(others).toEqual([]);
  const successor = winner?.status === "fulfilled" ? winner.value.issued.id : "";
  const message = `Token ${id} was replaced by token ${successor}; rotate that one instead.`;
  for (const one of done) {
    if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "NOT_FOUND", message });
  }
  expect((await listTokens(app.db, store)).map((token) => [token.label, token.replacedBy])).toEqual([
    [null, null], // the store's first
    ["shop", successor],
    ["shop", null],
  ]);
});

test("after a revocation during a rotation, only tokens that it reported are valid", async () => {
  for (let round = 0; round < 5; round += 1) {
    const { store, id, one } = await tokenOfNewStore();
    const [rotation, revocation] = await Promise.allSettled([
      rotateToken(openConnections().client, store, id, grace),
      revokeToken(openConnections().client, store, id),
    ]);
    if (revocation.status === "rejected") throw revocation.reason;
    const { replacedBy, alsoRevoked, revokedAt } = revocation.value;
    expect(await one(id)).toMatchObject({ revokedAt });
    if (rotation.status === "rejected") {
      expect(rotation.reason).toMatchObject({ code: "NOT_FOUND" });
      expect(await listTokens(app.db, store)).toHaveLength(2);
      expect({ replacedBy, alsoRevoked }).toEqual({ replacedBy: null, alsoRevoked: [] });
    } else {
      const { id: successor } = rotation.value.issued;
      const { revokedAt: ended } = (await one(successor)) ?? {};
      expect({ replacedBy, alsoRevoked }).toEqual(
        ended === null ? { replacedBy: successor, alsoRevoked: [] } : { replacedBy: null, alsoRevoked: [successor] },
      );
    }
  }
});

test("a token that was replaced before is revoked alone, and the result names its valid successor", async () => {
  const { store, id, one } = await tokenOfNewStore();
  const { issued } = await rotateToken(app.db, store, id, grace);
  expect(await revokeToken(app.db, store, id)).toEqual({
    revokedAt: expect.any(Date),
    replacedBy: issued.id,
    alsoRevoked: [],
  });
  expect(await one(issued.id)).toMatchObject({ revokedAt: null });
  await revokeToken(app.db, store, issued.id);
  expect(await revokeToken(app.db, store, id)).toMatchObject({ replacedBy: null, alsoRevoked: [] });
});

test("an undone rotation leaves the token unchanged, and no other valid one", async () => {
  const { store, id, one } = await tokenOfNewStore();
  const before = await one(id);
  const rotation = await rotateToken(app.db, store, id, grace);
  await undoRotation(app.db, rotation);
  expect(await one(id)).toEqual(before);
  expect(await one(rotation.issued.id)).toMatchObject({ revokedAt: expect.any(Date) });
  const { issued } = await rotateToken(app.db, store, id, grace);
  expect(await one(id)).toMatchObject({ replacedBy: issued.id });
});
