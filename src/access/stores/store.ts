import type { Database } from "../../database/client.js";
import { AppError, errorAt } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { nameCharactersMax, textFault } from "../../lib/text.js";

const storeIdRule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

/** @throws {AppError} VALIDATION_FAILED for an id that is malformed or taken, or a name that is blank or too long */
export async function createStore(
  db: Database,
  id: string,
  name: string,
  currency?: string,
): Promise<{ store: string; name: string; currency?: string }> {
  if (!storeIdRule.test(id)) {
    throw errorAt("VALIDATION_FAILED", "A store id has 1 to 100 letters, digits, dots, dashes and underscores.", [
      "store",
    ]);
  }
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  if (currency !== undefined) requireCurrency(currency);
  const given = currency === undefined ? {} : { currency };
  const { count } = await db.store.createMany({ data: { id, name, ...given }, skipDuplicates: true });
  if (count === 0) throw errorAt("VALIDATION_FAILED", `Store ${id} already exists.`, ["store"]);
  return { store: id, name, ...given };
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

function requireCurrency(currency: string): void {
  if (currencies.has(currency)) return;
  const message = mustBe("currency", "a code of ISO 4217 such as EUR", currency);
  throw errorAt("VALIDATION_FAILED", message, ["currency"]);
}

/** Amounts are not converted. @throws {AppError} NOT_FOUND, or VALIDATION_FAILED for what is no ISO 4217 currency */
export async function setCurrency(db: Database, id: string, currency: string) {
  requireCurrency(currency);
  await requireStore(db, id);
  await db.store.update({ where: { id }, data: { currency } });
  return { store: id, currency };
}

export interface StoreSummary {
  readonly store: string;
  readonly name: string;
  readonly currency: string | null;
  readonly createdAt: Date;
}

/** @throws {AppError} NOT_FOUND */
export async function requireStore(db: Database, id: string): Promise<void> {
  await findStore(db, id);
}

/** @throws {AppError} NOT_FOUND */
export async function findStore(db: Database, id: string): Promise<StoreSummary> {
  const found = await db.store.findFirst({ where: { id } }); // findUnique would be joined with another store's, on two nodes of Citus
  if (found === null) throw new AppError("NOT_FOUND", `There is no store ${id}.`);
  return { store: found.id, name: found.name, currency: found.currency, createdAt: found.createdAt };
}

/** Ordered by id. Only operators may see other stores. */
export function listStores(db: Database): Promise<StoreSummary[]> {
  return db.$queryRaw<
    StoreSummary[]
  >`/* all_stores */ SELECT id AS store, name, currency, "createdAt" FROM "Store" ORDER BY id`;
}

/** @throws {AppError} NOT_FOUND, or VALIDATION_FAILED for a name that is blank or too long */
export async function renameStore(db: Database, id: string, name: string): Promise<{ store: string; name: string }> {
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  await requireStore(db, id);
  await db.store.update({ where: { id }, data: { name } });
  return { store: id, name };
}
