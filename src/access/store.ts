import type { Database } from "../database/client.js";
import { AppError, errorAt } from "../errors.js";
import { nameCharactersMax, textFault } from "../lib/text.js";

const storeIdRule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

/**
 * @throws {AppError} VALIDATION_FAILED for an id that is malformed or taken, and for a name that is blank or too long
 */
export async function createStore(db: Database, id: string, name: string): Promise<{ store: string; name: string }> {
  if (!storeIdRule.test(id)) {
    throw errorAt("VALIDATION_FAILED", "A store id has 1 to 100 letters, digits, dots, dashes and underscores.", [
      "store",
    ]);
  }
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  const { count } = await db.store.createMany({ data: { id, name }, skipDuplicates: true });
  if (count === 0) throw errorAt("VALIDATION_FAILED", `Store ${id} already exists.`, ["store"]);
  return { store: id, name };
}

export interface StoreSummary {
  readonly store: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** @throws {AppError} NOT_FOUND */
export async function requireStore(db: Database, id: string): Promise<void> {
  await findStore(db, id);
}

/** @throws {AppError} NOT_FOUND */
export async function findStore(db: Database, id: string): Promise<StoreSummary> {
  const found = await db.store.findUnique({ where: { id } });
  if (found === null) throw new AppError("NOT_FOUND", `There is no store ${id}.`);
  return { store: found.id, name: found.name, createdAt: found.createdAt };
}

/** All stores in the order of their ids. For operators: everybody else knows one store. */
export function listStores(db: Database): Promise<StoreSummary[]> {
  return db.$queryRaw<StoreSummary[]>`/* all_stores */ SELECT id AS store, name, "createdAt" FROM "Store" ORDER BY id`;
}

/** @throws {AppError} NOT_FOUND, or VALIDATION_FAILED for a name that is blank or too long */
export async function renameStore(db: Database, id: string, name: string): Promise<{ store: string; name: string }> {
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  await requireStore(db, id);
  await db.store.update({ where: { id }, data: { name } });
  return { store: id, name };
}
