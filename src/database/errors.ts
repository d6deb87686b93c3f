import { isDriverAdapterError } from "@prisma/driver-adapter-utils";
import { AppError } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";

/** Another try of the same transaction may succeed: serialization failure, deadlock (PostgreSQL manual, appendix A). */
const retryableStates = new Set(["40001", "40P01"]);
/** Held by another for longer than a statement waits for it. */
const lockNotAvailable = "55P03";
/** Too many connections, shutting down or starting, a time limit of the server reached, out of memory or disk. */
const unavailableStates = /^(?:08...|25P0[34]|53...|55P03|57014|57P0[1-5])$/u;
/** Cannot reach, timed out, closed, out of connections, no transaction to be had in time; retries used up. */
const unavailableCodes = new Set(["P1001", "P1002", "P1008", "P1017", "P2024", "P2028", "P2034", "P2037"]);
/** The same in raw queries, whose code is always P2010: what the driver adapter calls it. */
const unavailableKinds = new Set(["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout", "TooManyConnections"]);
/** What pg says, without a code. */
const unavailableMessage =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|after calling end on the pool/u;
const unavailableSystemCodes = /^(?:ECONN\w+|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/u;

/** Whether the transaction lost against another and should simply run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return codeOf(error) === "P2034" || (state !== undefined && retryableStates.has(state)) || isShardGone(error);
}

/** On Citus: the shard was split, as for a store that gets one of its own, after the statement had been planned. */
function isShardGone(error: unknown): boolean {
  return (
    sqlStateOf(error) === "XX000" &&
    error instanceof Error &&
    error.message.includes("could not find valid entry for shard")
  );
}

/** Whether a statement waited in vain for what another holds, or was told not to wait: lock_timeout, NOWAIT. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === lockNotAvailable;
}

/** A row broke a constraint: double, missing a value, or twice in one statement. */
const refusedStates = new Set(["23505", "23502", "21000"]);

/** Whether the database refused a row for what it holds. */
export function isRowRefused(error: unknown): boolean {
  return refusedStates.has(sqlStateOf(error) ?? "");
}

/** The database lacks a table, a column or a schema. */
const missingStates = new Set(["42P01", "42703", "3F000"]);
/** The same where Prisma notices. */
const missingCodes = new Set(["P2021", "P2022"]);
export const notMigrated =
  "The database does not have the tables of this version of Vitrine. An operator must run: npx vitrine migrate.";

/** Whether the database lacks what a migration of this version creates. */
function isNotMigrated(error: unknown): boolean {
  return missingStates.has(sqlStateOf(error) ?? "") || missingCodes.has(codeOf(error) ?? "");
}

/** UNAVAILABLE for errors that say the database cannot serve now; everything else as it is. */
export function mapDatabaseError(error: unknown): unknown {
  if (isNotMigrated(error)) return new AppError("UNAVAILABLE", notMigrated, { retryAfterSeconds: 30, cause: error });
  if (!isUnavailable(error)) return error;
  return new AppError("UNAVAILABLE", refusalOf(error), { retryAfterSeconds: 1, cause: error });
}

function refusalOf(error: unknown): string {
  if (isInDoubt(error)) {
    return "The connection to the database was lost. A change may have been stored or not; it can be sent again.";
  }
  if (isLockTimeout(error)) return "Others are changing the same data. Nothing was changed.";
  return "The database cannot be used at the moment. Nothing was changed.";
}

/** The server was told to stop or crashed while it was at work, or the connection broke. */
const inDoubtStates = /^(?:08...|57P0[12])$/u;
const inDoubtCodes = new Set(["P1008", "P1017", "ECONNRESET", "EPIPE", "ETIMEDOUT"]);
const inDoubtKinds = new Set(["ConnectionClosed", "SocketTimeout"]);
/** What pg says when a connection ends: before a statement was answered, or before it was sent. */
const lostConnection = /Connection terminated(?! due to connection timeout)|not queryable/u;

/** Whether the database may have done what it was asked before it was lost: only its answer would have told. */
function isInDoubt(error: unknown): boolean {
  return (
    inDoubtCodes.has(codeOf(error) ?? "") ||
    inDoubtKinds.has(adapterCause(error)?.kind ?? "") ||
    inDoubtStates.test(sqlStateOf(error) ?? "") ||
    (error instanceof Error && lostConnection.test(error.message))
  );
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  const code = codeOf(error);
  if (code !== undefined && (unavailableCodes.has(code) || unavailableSystemCodes.test(code))) return true;
  if (unavailableKinds.has(adapterCause(error)?.kind ?? "")) return true;
  const state = sqlStateOf(error);
  if (state !== undefined && (unavailableStates.test(state) || retryableStates.has(state))) return true;
  if (isShardGone(error)) return true;
  return error instanceof Error && unavailableMessage.test(error.message);
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** The five-character state that PostgreSQL gave, wherever Prisma put it: it differs between raw and generated queries. */
export function sqlStateOf(error: unknown): string | undefined {
  const cause = adapterCause(error);
  const state = cause?.originalCode ?? cause?.code ?? metaOf(error).code;
  return typeof state === "string" ? state : undefined;
}

interface AdapterCause {
  readonly kind?: string;
  readonly originalCode?: unknown;
  readonly code?: unknown;
}

/** What the driver adapter said of a failed query. Prisma wraps its errors, but for those of BEGIN and COMMIT. */
function adapterCause(error: unknown): AdapterCause | undefined {
  const own = error instanceof Error && isDriverAdapterError(error) ? error : undefined;
  return (own ?? metaOf(error).driverAdapterError)?.cause;
}

function metaOf(error: unknown): {
  readonly code?: unknown;
  readonly driverAdapterError?: { readonly cause?: AdapterCause };
} {
  return error instanceof Prisma.PrismaClientKnownRequestError ? (error.meta ?? {}) : {};
}
