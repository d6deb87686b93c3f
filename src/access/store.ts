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

/** @throws {AppError} NOT_FOUND */
export async function requireStore(db: Database, id: string): Promise<void> {
  const store = await db.store.findUnique({ where: { id } });
  if (store === null) throw new AppError("NOT_FOUND", `There is no store ${id}.`);
}
