import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { currencyOf } from "../../stores/store.currency.js";
import { requireStore } from "../../stores/store.js";
import { isOfStore } from "../../stores/token.js";
import { createTrusted } from "../../stores/validity/validity.js";
import type { Database, RootDatabase } from "../../database/client.js";
import { forStore, forTokenLookups } from "../../database/shares/forStore.js";
import { AppError, errorAt } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { nameCharactersMax, textFault } from "../../lib/text.js";
import { hasNumberedOrders } from "../files/numberedOrders.js";

export const shopSystems = ["shopify", "woocommerce"] as const;
type ShopSystem = (typeof shopSystems)[number];

export const hooksPath = "/hooks/v1";

const hooksMax = 20;
const faultsMax = 20;
const secretBytes = 24;

export interface AddedHook {
  readonly id: string;
  /** The path of deliveries. */
  readonly path: string;
  readonly store: string;
  readonly from: ShopSystem;
  readonly secret: string;
}

/**
 * Adds an address to which a shop system delivers the store's orders.
 *
 * @param secret with which the system signs; one is made if it is undefined
 * @throws {AppError} NOT_FOUND for an unknown store, or VALIDATION_FAILED
 */
export async function addHook(
  db: Database,
  store: string,
  { from, secret }: { readonly from: string; readonly secret?: string | undefined },
): Promise<AddedHook> {
  const system = shopSystems.find((name) => name === from);
  if (system === undefined)
    throw errorAt("VALIDATION_FAILED", mustBe("from", "shopify or woocommerce", from), ["from"]);
  const fault = textFault(secret ?? "none", "secret", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["secret"]);
  await requireStore(db, store);
  await requireCurrency(db, store);
  await requireOrdersWithIds(db, store);
  if ((await db.hook.count({ where: { storeId: store } })) >= hooksMax) {
    throw new AppError("VALIDATION_FAILED", `A store has at most ${hooksMax} hooks: remove one that is not used.`);
  }
  const hook = { id: randomUUID(), from: system, secret: secret ?? randomBytes(secretBytes).toString("base64url") };
  await db.hook.create({ data: { ...hook, storeId: store } });
  return { ...hook, path: `${hooksPath}/${hook.id}`, store };
}

/** Amounts of several currencies would add up. @throws {AppError} VALIDATION_FAILED */
async function requireCurrency(db: Database, store: string): Promise<void> {
  if ((await currencyOf(db, store, true)) !== null) return;
  const message = `Store ${store} has no currency yet. Set that of its orders first: npx vitrine store set ${store} --currency EUR`;
  throw new AppError("VALIDATION_FAILED", message);
}

/** Deliveries would count orders again that are known by their numbers alone. @throws {AppError} VALIDATION_FAILED */
async function requireOrdersWithIds(db: Database, store: string): Promise<void> {
  if (!(await hasNumberedOrders(db, store))) return;
  const message =
    `Store ${store} knows orders by their numbers or names, from a file without ids: a hook would count them twice. Add the hook to a ` +
    "new store, and import the orders there from a file with the column Id or Order ID.";
  throw new AppError("VALIDATION_FAILED", message);
}

export interface HookSummary {
  readonly id: string;
  readonly path: string;
  readonly from: string;
  readonly createdAt: Date;
  /** Deliveries that could not be used, the latest first. */
  readonly faults: readonly { readonly reason: string; readonly count: number; readonly lastAt: Date }[];
}

/** In the order in which they were added. @throws {AppError} NOT_FOUND for an unknown store */
export async function listHooks(db: Database, store: string): Promise<readonly HookSummary[]> {
  await requireStore(db, store);
  const hooks = await db.hook.findMany({ where: { storeId: store }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
  const faults = await db.hookFault.findMany({ where: { storeId: store }, orderBy: { lastAt: "desc" } });
  return hooks.map(({ id, from, createdAt }) => ({
    id,
    path: `${hooksPath}/${id}`,
    from,
    createdAt,
    faults: faults
      .filter(({ hookId }) => hookId === id)
      .map(({ reason, count, lastAt }) => ({ reason, count, lastAt })),
  }));
}

/** Servers notice within 5 seconds. @throws {AppError} NOT_FOUND */
export async function removeHook(db: Database, store: string, id: string): Promise<void> {
  const { count } = await db.hook.deleteMany({ where: { id, storeId: store } });
  if (count === 0) throw new AppError("NOT_FOUND", `Store ${store} has no hook ${id}.`);
  await db.hookFault.deleteMany({ where: { storeId: store, hookId: id } });
}

export interface KnownHook {
  readonly id: string;
  readonly storeId: string;
  readonly from: ShopSystem;
  readonly secret: string;
}

/** The hook of an id, undefined where there is none. It is trusted for 3 seconds. */
export type FindHook = (id: string, db?: Database) => Promise<KnownHook | undefined>;

const shape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;

export function createFindHook(root: RootDatabase): FindHook {
  const lookUp = createTrusted(async (id, db): Promise<KnownHook | undefined> => {
    const row = await (db ?? forTokenLookups(root)).hook.findUnique({ where: { id } });
    if (row === null) return undefined;
    const { storeId, from, secret } = row;
    if (!(await isOfStore(db ?? forStore(root, storeId), storeId, id))) return undefined;
    return { id, storeId, from: from as ShopSystem, secret }; // a CHECK lists the same
  });
  return async (id, db) => (shape.test(id) ? lookUp(id, db) : undefined);
}

/** Whether a delivery is signed with the hook's secret: HMAC-SHA256 of the body, in base64. Takes the same time either way. */
export function isSigned(body: Buffer, signature: string, { secret }: Pick<KnownHook, "secret">): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(body).digest("base64"));
  const given = Buffer.from(signature); // as it was sent: what is read of base64 may have something behind it
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Of all reasons that are not named. */
const otherReason = `It is one of more than ${faultsMax} reasons, of which the first are named: mend these, and add the hook anew.`;

/** Counts deliveries that could not be used by their reason, for `vitrine hook list`. */
export async function noteFault(db: Database, hook: KnownHook, reason: string, count = 1): Promise<void> {
  const isNamed = (await addFault(db, hook, { reason, count, faultsMax })) > 0;
  if (!isNamed) await addFault(db, hook, { reason: otherReason, count, faultsMax: faultsMax + 1 });
}

/** @returns 0 where there are too many reasons */
async function addFault(
  db: Database,
  { id, storeId }: KnownHook,
  { reason, count, faultsMax: most }: { readonly reason: string; readonly count: number; readonly faultsMax: number },
): Promise<number> {
  const now = new Date();
  return db.$executeRaw`
    INSERT INTO "HookFault" AS t ("storeId", "hookId", reason, count, "lastAt")
    SELECT o.id, ${id}, ${reason}, ${count}::int, ${now}::timestamptz FROM "Store" AS o WHERE o.id = ${storeId}
      AND ((SELECT count(*) FROM "HookFault" AS f WHERE f."storeId" = ${storeId} AND f."hookId" = ${id}) < ${most}
        OR EXISTS (SELECT FROM "HookFault" AS f WHERE f."storeId" = ${storeId} AND f."hookId" = ${id} AND f.reason = ${reason}))
    ON CONFLICT ("storeId", "hookId", reason) DO UPDATE SET count = t.count + EXCLUDED.count, "lastAt" = EXCLUDED."lastAt"`;
}

/** How often refused deliveries are written. */
const writtenEachMs = 10_000;

/** Why a delivery is refused before it is read, and what to do about it. */
const reasons = {
  UNAUTHENTICATED: "It is not signed with the secret of this hook: enter that in the shop.",
  PAYLOAD_TOO_LARGE: "It has more than 4 MiB.",
  UNSUPPORTED_MEDIA_TYPE: "It is compressed: have what stands between the shop and Vitrine pass it on as it is.",
} as const;

export type Refused = keyof typeof reasons;

export function isRefusal(code: string): code is Refused {
  return Object.hasOwn(reasons, code);
}

/** Counts a delivery that was refused before it was read. */
type NoteRefused = (hook: KnownHook, code: Refused) => void;

/**
 * Keeps counts in memory, and writes them every ten seconds: nobody without a hook's secret writes to the database with each request.
 * There are as many at most as hooks that are known. What is not written yet when the process ends is lost.
 */
export function createNoteRefused(db: RootDatabase): NoteRefused {
  const counts = new Map<string, { hook: KnownHook; code: Refused; count: number }>();
  const write = async (): Promise<void> => {
    const all = [...counts.values()];
    counts.clear();
    for (const { hook, code, count } of all) {
      await noteFault(forStore(db, hook.storeId), hook, reasons[code], count).catch(() => undefined); // it is not money
    }
  };
  return (hook, code) => {
    if (counts.size === 0) setTimeout(() => void write(), writtenEachMs).unref();
    const key = `${hook.id} ${code}`;
    const { count } = counts.get(key) ?? { count: 0 };
    counts.set(key, { hook, code, count: count + 1 });
  };
}
