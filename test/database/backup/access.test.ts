import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createIdentify, issueToken } from "../../../src/stores/token.js";
import { createFindKey, issueKey, revokeKey } from "../../../src/stores/publicKey.js";
import { deleteStore } from "../../../src/stores/store.delete.js";
import { createStore } from "../../../src/stores/store.js";
import { revokeToken, rotateToken } from "../../../src/stores/token.replace.js";
import { compareAccess, readCredentials, revokeReinstated } from "../../../src/stores/validity/afterRestore.js";
import { openTestDatabase } from "../../support/app.js";
import { ago } from "../../support/clock.js";
import { ofTest } from "../../support/citus/recording.js";

const { client: db } = openTestDatabase();
const query = async <Row>(sql: string, values: readonly unknown[] = []) =>
  sql.includes("UPDATE")
    ? [(await db.$executeRawUnsafe(ofTest(sql), ...values)) as Row]
    : db.$queryRawUnsafe<Row[]>(ofTest(sql), ...values);

test("tokens and keys that were revoked, deleted or shortened since a backup are told, and those that were issued since", async () => {
  const [acme, gone] = [`acme-${randomUUID()}`, `gone-${randomUUID()}`];
  for (const store of [acme, gone]) await createStore(db, store, store);
  const token = (store: string, label: string, expiresAt?: Date) => issueToken(db, store, { label, expiresAt });
  const origins = { origins: ["https://shop.example"] };
  const issued = {
    kept: await token(acme, "kept"),
    revoked: await token(acme, "revoked"),
    rotated: await token(acme, "rotated"),
    deleted: await token(gone, "deleted"),
    expired: await token(acme, "expired", ago(1_000)),
    revokedBefore: await token(acme, "revoked before"),
    keptKey: await issueKey(db, acme, { ...origins, label: "kept" }),
    revokedKey: await issueKey(db, acme, { ...origins, label: "old pages" }),
  };
  await revokeToken(db, acme, issued.revokedBefore.id);
  /** Of these stores: other tests have theirs in the same database. */
  const credentials = async () => {
    const all = [...(await readCredentials(query))];
    return new Map(all.filter(([, { store }]) => store === acme || store === gone));
  };
  const backup = await credentials();

  const { revokedAt } = await revokeToken(db, acme, issued.revoked.id);
  const { issued: successor } = await rotateToken(db, acme, issued.rotated.id, { graceMs: 3_600_000 });
  await deleteStore(db, gone, 0);
  await revokeKey(db, acme, issued.revokedKey.id);
  const newKey = await issueKey(db, acme, origins);
  const { reinstated, dropped } = compareAccess(backup, await credentials());
  const date = expect.any(Date);
  expect(new Set(reinstated)).toEqual(
    new Set([
      { kind: "token", id: issued.revoked.id, store: acme, label: "revoked", since: "revoked", at: revokedAt },
      { kind: "token", id: issued.rotated.id, store: acme, label: "rotated", since: "expires", at: date },
      { kind: "token", id: issued.deleted.id, store: gone, label: "deleted", since: "missing", at: null },
      { kind: "key", id: issued.revokedKey.id, store: acme, label: "old pages", since: "revoked", at: date },
    ]),
  );
  expect(new Set(dropped)).toEqual(
    new Set([
      { kind: "token", id: successor.id, store: acme, label: "rotated" },
      { kind: "key", id: newKey.id, store: acme, label: null },
    ]),
  );

  const alone = compareAccess(backup, undefined);
  expect(alone.dropped).toEqual([]);
  const { kept, revoked, rotated, deleted, keptKey, revokedKey } = issued;
  const valid = [kept, revoked, rotated, deleted, keptKey, revokedKey];
  expect(new Set(alone.reinstated.map(({ id }) => id))).toEqual(new Set(valid.map(({ id }) => id)));
  expect(new Set(alone.reinstated.map(({ since }) => since))).toEqual(new Set(["unknown"]));

  expect(await createIdentify(db)(kept.token)).toMatchObject({ storeId: acme });
  await revokeReinstated(query, alone.reinstated);
  await expect(createIdentify(db)(kept.token)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  await expect(createFindKey(db)(keptKey.key)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  expect(await createIdentify(db)(successor.token)).toMatchObject({ storeId: acme });
});

test("an empty database has no tokens and keys", async () => {
  const answers = [{ exists: false }];
  expect(await readCredentials(async <Row>() => answers as Row[])).toEqual(new Map());
});
