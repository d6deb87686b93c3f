import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addSite } from "../../src/stores/site.js";
import { createStore } from "../../src/stores/store.js";
import { revokeToken, rotateToken } from "../../src/stores/token.replace.js";
import { issueToken, listTokens } from "../../src/stores/token.js";
import { createTestStore, openTestApp } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { fromNow, stopClock } from "../support/clock.js";
import { refusal } from "../support/problems.js";

const app = await openTestApp();

const invalid = refusal("UNAUTHENTICATED", "The access token is not valid.");

async function call(
  headers: [string, string][] | Record<string, string>,
  path = "/external/product/v1/none",
  options: RequestInit = {},
) {
  return readAnswer(await fetch(`${app.url}${path}`, { ...options, headers }));
}

/** Whether a token is let in: then the path says that there is no such product. */
async function isLetIn(token: string): Promise<boolean> {
  const { status, body } = await call({ "x-service-access-token": token });
  if (status === 400 && body.code === "PRODUCT_NOT_FOUND") return true;
  expect({ status, body }).toMatchObject({ status: 401, body: invalid.body });
  return false;
}

describe("a token", () => {
  test("has 256 random bits, and only its SHA-256 is stored", async () => {
    const { id: store, token } = await createTestStore(app);
    expect(token).toMatch(/^vt_[\w-]{43}$/u);
    const stored = await app.db.accessToken.findMany({ where: { storeId: store } });
    expect(stored.map(({ hash }) => hash)).toEqual([createHash("sha256").update(token).digest("hex")]);
    expect(JSON.stringify(stored)).not.toContain(token.slice(3));
  });

  test("is not shown again in the list of tokens", async () => {
    const { id: store, token } = await createTestStore(app);
    const { id } = await issueToken(app.db, store, { label: "second" });
    const list = await listTokens(app.db, store);
    expect(list.map(({ label }) => label)).toEqual([null, "second"]);
    expect(list[1]).toEqual({
      id,
      label: "second",
      scopes: ["catalog:read", "catalog:write", "shows:write", "events:write", "analytics:read"],
      createdAt: expect.any(Date),
      expiresAt: null,
      revokedAt: null,
      replacedBy: null,
    });
    expect(JSON.stringify(list)).not.toContain(token.slice(3));
  });

  test("of an unknown store cannot be issued", async () => {
    await expect(issueToken(app.db, "nobody")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "There is no store nobody.",
    });
  });

  test("stops working at once when it is revoked by a machine whose clock is ahead", async () => {
    const { id: store } = await createTestStore(app);
    const { id, token } = await issueToken(app.db, store);
    const revokedAt = fromNow(3_600_000);
    await app.db.accessToken.update({ where: { id, storeId: store }, data: { revokedAt } });
    expect(await isLetIn(token)).toBe(false);
  });

  test("stops working when it expires, also where it is known", async () => {
    const { id: store } = await createTestStore(app);
    const clock = stopClock();
    const { token } = await issueToken(app.db, store, { expiresAt: fromNow(2_000) }); // the server trusts it for longer
    expect(await isLetIn(token)).toBe(true);
    clock.pass(1_999);
    expect(await isLetIn(token)).toBe(true);
    clock.pass(1);
    expect(await isLetIn(token)).toBe(false);
  });

  test("stops working within 5 seconds of its revocation, while the store's others go on", async () => {
    const { id: store, token: other } = await createTestStore(app);
    const { id, token } = await issueToken(app.db, store);
    const clock = stopClock();
    expect(await isLetIn(token)).toBe(true);
    await revokeToken(app.db, store, id);
    clock.pass(5_000);
    expect(await isLetIn(token)).toBe(false);
    expect(await isLetIn(other)).toBe(true);
  });

  test("stays valid beside its successor for the grace period, and no longer", async () => {
    const { id: store } = await createTestStore(app);
    const clock = stopClock();
    const old = await issueToken(app.db, store, { label: "shop" });
    const graceMs = 3_600_000;
    const { issued: rotated } = await rotateToken(app.db, store, old.id, { graceMs });
    expect([await isLetIn(old.token), await isLetIn(rotated.token)]).toEqual([true, true]);
    clock.pass(graceMs);
    expect(await isLetIn(old.token)).toBe(false);
    expect(await isLetIn(rotated.token)).toBe(true);
    expect((await listTokens(app.db, store)).find(({ id }) => id === rotated.id)).toMatchObject({
      label: "shop",
      expiresAt: null,
    });
  });

  test("never expires later because of a rotation", async () => {
    const { id: store } = await createTestStore(app);
    const expiresAt = fromNow(60_000);
    const { id } = await issueToken(app.db, store, { expiresAt });
    await rotateToken(app.db, store, id, { graceMs: 3_600_000 });
    expect((await listTokens(app.db, store)).find((token) => token.id === id)?.expiresAt).toEqual(expiresAt);
  });

  test("has a successor with the same expiry, unless another one is given", async () => {
    const { id: store } = await createTestStore(app);
    const [expiresAt, later] = [fromNow(60_000), fromNow(120_000)];
    const { id } = await issueToken(app.db, store, { expiresAt });
    const { issued: second } = await rotateToken(app.db, store, id, { graceMs: 1_000 });
    expect(second.expiresAt).toEqual(expiresAt);
    const { issued: third } = await rotateToken(app.db, store, second.id, { graceMs: 500, expiresAt: later });
    expect(third.expiresAt).toEqual(later);
  });

  test("is unchanged by a rotation that fails", async () => {
    const { id: store } = await createTestStore(app);
    const { id } = await issueToken(app.db, store);
    const before = await listTokens(app.db, store);
    const failing = app.db.$extends({
      query: { accessToken: { create: () => Promise.reject(new Error("no successor")) } },
    });
    const rotating = rotateToken(failing as unknown as typeof app.db, store, id, { graceMs: 0 });
    await expect(rotating).rejects.toThrow("no successor");
    expect(await listTokens(app.db, store)).toEqual(before);
  });

  test("that is invalid cannot be rotated into a valid one", async () => {
    const { id: store } = await createTestStore(app);
    const { id } = await issueToken(app.db, store);
    await revokeToken(app.db, store, id);
    await expect(rotateToken(app.db, store, id, { graceMs: 1_000 })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await listTokens(app.db, store)).toHaveLength(2);
  });

  test("can be rotated and revoked only by its own store", async () => {
    const [owner, other] = [await createTestStore(app), await createTestStore(app)];
    const { id, token } = await issueToken(app.db, owner.id);
    const notFound = { code: "NOT_FOUND", message: `Store ${other.id} has no token ${id}.` };
    await expect(rotateToken(app.db, other.id, id, { graceMs: 0 })).rejects.toMatchObject(notFound);
    await expect(revokeToken(app.db, other.id, id)).rejects.toMatchObject(notFound);
    expect(await isLetIn(token)).toBe(true);
  });
});

test("a store id that is taken or malformed is refused", async () => {
  const { id } = await createTestStore(app);
  await expect(createStore(app.db, id, "Again")).rejects.toMatchObject({
    code: "VALIDATION_FAILED",
    message: `Store ${id} already exists.`,
  });
  for (const bad of ["", "a b", "a/b", "-a", "é", "x".repeat(101)]) {
    await expect(createStore(app.db, bad, "Bad"), bad).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
  }
});

test("a site is added once to a store that exists, and needs an id and a type", async () => {
  const { id: store } = await createTestStore(app);
  expect(await addSite(app.db, store, "de", "SHOP")).toEqual({ store, site: "de", type: "SHOP" });
  await expect(addSite(app.db, store, "de", "OTHER")).rejects.toMatchObject({
    message: `Store ${store} already has a site de.`,
  });
  await expect(addSite(app.db, "nobody", "de", "SHOP")).rejects.toMatchObject({ code: "NOT_FOUND" });
  for (const [site, type, message] of [
    [" ", "SHOP", "site must not be blank."],
    ["fr", "", "type must not be blank."],
    ["f".repeat(256), "SHOP", "site must have at most 255 characters."],
    ["fr", "\0", "type must not contain a NUL character."],
  ] as const) {
    await expect(addSite(app.db, store, site, type)).rejects.toMatchObject({ code: "VALIDATION_FAILED", message });
  }
});
