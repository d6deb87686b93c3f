import type { Database } from "../database/client.js";
import { AppError, errorAt, Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";
import { aTimeZone, timeZoneNamed } from "../lib/timeZone.js";
import { nameCharactersMax, textFault } from "../lib/text.js";
import { forgetCurrency } from "./store.currency.js";

const storeIdRule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

export interface StoreSettings {
  /** The currency of all its amounts (ISO 4217). */
  readonly currency?: string;
  /** An IANA name. */
  readonly timeZone?: string;
}

/** @throws {AppError} VALIDATION_FAILED for an id that is malformed or taken, a name that is blank or too long, or wrong settings */
export async function createStore(
  db: Database,
  id: string,
  name: string,
  settings: StoreSettings = {},
): Promise<{ store: string; name: string } & StoreSettings> {
  if (!storeIdRule.test(id)) {
    throw errorAt("VALIDATION_FAILED", "A store id has 1 to 100 letters, digits, dots, dashes and underscores.", [
      "store",
    ]);
  }
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  const given = checkSettings(settings);
  const { count } = await db.store.createMany({ data: { id, name, ...given }, skipDuplicates: true });
  if (count === 0) throw errorAt("VALIDATION_FAILED", `Store ${id} already exists.`, ["store"]);
  forgetCurrency(db, id); // an earlier store with this id may have had one
  return { store: id, name, ...given };
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** @returns those that are given */
function checkSettings({ currency, timeZone }: StoreSettings): StoreSettings {
  const problems = new Problems();
  const refuse = (name: string, message: string) => problems.add({ code: "VALIDATION_FAILED", message, path: [name] });
  const zone = timeZone === undefined ? undefined : timeZoneNamed(timeZone);
  if (currency !== undefined && !currencies.has(currency)) {
    refuse("currency", mustBe("currency", "a code of ISO 4217 such as EUR", currency));
  }
  if (timeZone !== undefined && zone === undefined) refuse("timeZone", mustBe("timeZone", aTimeZone, timeZone));
  problems.throwIfAny();
  return { ...(currency !== undefined && { currency }), ...(zone !== undefined && { timeZone: zone }) };
}

/** Amounts are not converted. @throws {AppError} NOT_FOUND, or VALIDATION_FAILED for an unknown currency or time zone */
export async function setStore(db: Database, id: string, settings: StoreSettings) {
  const given = checkSettings(settings);
  await requireStore(db, id);
  await db.store.update({ where: { id }, data: given });
  forgetCurrency(db, id);
  return { store: id, ...given };
}

/** The time zone of days in the store's figures. @throws {AppError} NOT_FOUND */
export async function timeZoneOf(db: Database, id: string): Promise<string> {
  return (await findStore(db, id)).timeZone;
}

export interface StoreSummary {
  readonly store: string;
  readonly name: string;
  readonly currency: string | null;
  readonly timeZone: string;
  readonly createdAt: Date;
}

/** @throws {AppError} NOT_FOUND */
export async function requireStore(db: Database, id: string): Promise<void> {
  await findStore(db, id);
}

/** @throws {AppError} NOT_FOUND */
export async function findStore(db: Database, id: string): Promise<StoreSummary> {
  const found = await db.store.findFirst({ where: { id } }); // findFirst: see storeStatements.ts
  if (found === null) throw new AppError("NOT_FOUND", `There is no store ${id}.`);
  const { name, currency, timeZone, createdAt } = found;
  return { store: found.id, name, currency, timeZone, createdAt };
}

/** Ordered by id. Only operators may see other stores. */
export function listStores(db: Database): Promise<StoreSummary[]> {
  return db.$queryRaw<
    StoreSummary[]
  >`/* all_stores */ SELECT id AS store, name, currency, "timeZone", "createdAt" FROM "Store" ORDER BY id`;
}

/** @throws {AppError} NOT_FOUND, or VALIDATION_FAILED for a name that is blank or too long */
export async function renameStore(db: Database, id: string, name: string): Promise<{ store: string; name: string }> {
  const fault = textFault(name, "name", nameCharactersMax);
  if (fault !== undefined) throw errorAt("VALIDATION_FAILED", fault.message, ["name"]);
  await requireStore(db, id);
  await db.store.update({ where: { id }, data: { name } });
  return { store: id, name };
}
