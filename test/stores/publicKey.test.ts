import { expect, test } from "vitest";
import { issueKey, listKeys, parseOrigins, revokeKey } from "../../src/stores/publicKey.js";
import { deleteStore } from "../../src/stores/store.delete.js";
import { createTestStore, openTestApp } from "../support/app.js";

const app = await openTestApp();

const origins = ["https://shop.example"];

test.each([
  "https://shop.example",
  "http://localhost:3000",
  "http://127.0.0.1:4000",
  "http://[::1]:4000",
  "https://*.shop.example",
  "https://*.shop.example:8443",
  "https://xn--mnchen-3ya.example",
  "capacitor://localhost",
  "ionic://localhost:8080",
  "app://*.shop.example",
  "chrome-extension://aapocclcgogkmnckokdopfmhonfmgoek",
  "ftp://shop.example",
])("%s is an origin", (origin) => {
  expect(parseOrigins([origin, origin])).toEqual([origin]);
});

test.each([
  ["https://shop.example/", "https://shop.example"],
  ["https://Shop.Example", "https://shop.example"],
  ["HTTPS://shop.example:443", "https://shop.example"],
  ["http://shop.example:80/", "http://shop.example"],
  ["https://münchen.example", "https://xn--mnchen-3ya.example"],
  ["https://*.München.example:8443/", "https://*.xn--mnchen-3ya.example:8443"],
  ["https://[0:0::1]:4000", "https://[::1]:4000"],
  ["Capacitor://LocalHost/", "capacitor://localhost"],
])("%s is the origin %s", (given, origin) => {
  expect(parseOrigins([given, origin])).toEqual([origin]);
});

test.each([
  ["https://shop.example/path", "https://shop.example"],
  ["https://Shop.example?query", "https://shop.example"],
  ["https://shop.example/#top", "https://shop.example"],
  ["https://user@shop.example:8443", "https://shop.example:8443"],
  ["https://*.shop.example/a", "https://*.shop.example"],
  ["capacitor://localhost/index.html", "capacitor://localhost"],
])("for %s the origin is named: %s", (given, origin) => {
  expect(() => parseOrigins([given])).toThrow(`. Use ${origin}.`);
});

test("a key for sandboxed pages has their origin too", async () => {
  const { id: store } = await createTestStore(app);
  expect(await issueKey(app.db, store, { origins, isSandboxed: true })).toMatchObject({
    origins: [...origins, "null"],
  });
});

test.each([
  "",
  "*",
  "null",
  "shop.example",
  "https://shop.example/path",
  "https://shop.example?query",
  "https://user@shop.example",
  "https://*",
  "https://*.example",
  "https://*.1.2.3.4",
  "https://*shop.example",
  "https://shop.*.example",
  "https://*.*.shop.example",
  "javascript:alert(1)",
  "capacitor:localhost",
  "file:///index.html",
  "app://",
  "1app://shop.example",
  " https://shop.example",
  `https://${"a".repeat(63)}.${"b.".repeat(120)}example`,
])("%j is not an origin", (origin) => {
  expect(() => parseOrigins([origin])).toThrow("origin must be an origin such as https://shop.example");
});

test("a key has 1 to 20 origins", async () => {
  const many = Array.from({ length: 21 }, (_, index) => `https://shop-${index}.example`);
  expect(parseOrigins(many.slice(1))).toHaveLength(20);
  for (const wrong of [[], many]) expect(() => parseOrigins(wrong)).toThrow("A key has 1 to 20 origins.");
});

test("a key needs an existing store and a valid label, and a store has at most 100 keys", async () => {
  await expect(issueKey(app.db, "nobody", { origins })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(listKeys(app.db, "nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { id: store } = await createTestStore(app);
  await expect(issueKey(app.db, store, { origins, label: " " })).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
  const keys = Array.from({ length: 100 }, (_, index) => ({ id: `${store} ${index}`, key: `${store} ${index}` }));
  await app.db.publicKey.createMany({ data: keys.map((key) => ({ ...key, storeId: store, origins })) });
  await expect(issueKey(app.db, store, { origins })).rejects.toMatchObject({
    message: "A store has at most 100 public keys: revoke one that is not used.",
  });
  await revokeKey(app.db, store, `${store} 7`);
  expect(await issueKey(app.db, store, { origins })).toMatchObject({ store, origins });
});

test("a key is listed and revoked by its own store alone, and deleted with it", async () => {
  const [owner, other] = [await createTestStore(app), await createTestStore(app)];
  const { id, key } = await issueKey(app.db, owner.id, { origins, label: "shop" });
  expect(await listKeys(app.db, other.id)).toEqual([]);
  await expect(revokeKey(app.db, other.id, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  const listed = { id, key, label: "shop", origins, createdAt: expect.any(Date) };
  expect(await listKeys(app.db, owner.id)).toEqual([{ ...listed, revokedAt: null }]);
  const { revokedAt } = await revokeKey(app.db, owner.id, id);
  expect(await revokeKey(app.db, owner.id, id), "a second time changes nothing").toEqual({ revokedAt });
  expect(await deleteStore(app.db, owner.id, 0)).toMatchObject({ keys: 1 });
  expect(await app.db.publicKey.count({ where: { storeId: owner.id } })).toBe(0);
});
