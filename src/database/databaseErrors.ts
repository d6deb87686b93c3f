import { isDriverAdapterError } from "@prisma/driver-adapter-utils";
import pg from "pg";
import { AppError } from "../errors.js";
import { Prisma } from "../generated/prisma/client.js";
import { isKnownMigrated } from "./migrations/applied.js";

/** Why a database that can be reached does not serve, until an operator acts or another server takes over. */
export type Fault =
  | "read-only"
  | "disk full"
  | "damaged"
  | "login refused"
  | "database missing"
  | "privileges missing"
  | "not migrated";

/** The SQL states of faults (PostgreSQL manual, appendix A). */
const faults: Readonly<Record<string, Fault>> = {
  "25006": "read-only", // a standby, or default_transaction_read_only
  "53100": "disk full",
  XX001: "damaged",
  XX002: "damaged", // an index
  "58P01": "damaged", // a file that is missing
  "28000": "login refused", // no such role, not permitted to log in, no entry in pg_hba.conf
  "28P01": "login refused", // the password
  "3D000": "database missing",
  "42501": "privileges missing",
  "42P01": "not migrated", // no such table, or none in a schema that the role may use
  "3F000": "not migrated", // no such schema
  "42704": "not migrated", // no such constraint
};
/** A standby's message for functions that write. Its SQL state, 55000, has other causes too. */
const inRecovery = /\brecovery is in progress\b/u;
/**
 * Messages of the driver for a login without a password or without the required TLS, and of PostgreSQL for a database that takes
 * no connections.
 */
const loginMessage = /^SASL: |does not support SSL connections|is not currently accepting connections/u;

/** The fault that an error of the database indicates, if any. */
export function faultOf(error: unknown): Fault | undefined {
  const fault = faultOfState(sqlStateOf(error));
  if (fault !== undefined) return fault;
  if (error instanceof Error && inRecovery.test(error.message)) return "read-only";
  const isLogin =
    error instanceof Error && (loginMessage.test(error.message) || adapterCause(error)?.kind === tlsFailed);
  return isLogin ? "login refused" : undefined;
}

export function faultOfState(state: string | undefined): Fault | undefined {
  return state !== undefined && Object.hasOwn(faults, state) ? faults[state] : undefined;
}

/** Serialization failure, deadlock (PostgreSQL manual, appendix A). */
const retryableStates = new Set(["40001", "40P01"]);
/** lock_timeout, NOWAIT. */
export const lockNotAvailable = "55P03";
/** Too many connections, shutdown, startup, time limits, out of memory or disk. */
const unavailableStates = /^(?:08...|25P0[34]|53...|55P03|57014|57P0[1-5])$/u;
/** Unreachable, closed, pool exhausted, no transaction in time, retries used up. */
const unavailableCodes = new Set(["P1001", "P1002", "P1008", "P1017", "P2024", "P2028", "P2034", "P2037"]);
const tlsFailed = "TlsConnectionError";
/** The driver adapter's kinds of error distinguish errors of raw queries, whose code is always P2010. */
const unavailableKinds = new Set(["DatabaseNotReachable", "ConnectionClosed", "SocketTimeout", "TooManyConnections"]);
const unavailableMessage =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|after calling end on the pool/u;
const unavailableSystemCodes = /^(?:ECONN\w+|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/u;

/** Whether the transaction lost against another one and should run again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return codeOf(error) === "P2034" || (state !== undefined && retryableStates.has(state)) || isShardGone(error);
}

const lostNode =
  /failure on connection marked as essential|SSL SYSCALL error|invalid socket|connection not open|postmaster was shut down|could not commit transaction for shard/u;

/** Whether Citus lost a shard's node within the transaction or its commit. */
function isNodeLost(error: unknown): boolean {
  return sqlStateOf(error) === "XX000" && error instanceof Error && lostNode.test(error.message);
}

/** The Citus node that the error or its cause names. */
export function unreachableNodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /remote node (?:[^\s@]+@)?([^\s@]+:\d+)/u.exec(error.message)?.[1] ?? unreachableNodeOf(error.cause);
}

/** Whether a row that all nodes of Citus have may be unwritten because one node cannot be reached. */
export function mayBeNodeOutage(error: unknown): boolean {
  const known = mapDatabaseError(error);
  return known instanceof AppError && known.code === "UNAVAILABLE" && !isLockTimeout(known.cause);
}

const movedShard = /could not (?:find valid entry for shard|acquire the lock required to colocate)/u;

/** Whether Citus has moved or split a shard since the statement was planned, or is distributing tables. */
export function isShardGone(error: unknown): boolean {
  return (sqlStateOf(error) ?? codeOf(error)) === "XX000" && error instanceof Error && movedShard.test(error.message);
}

export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === lockNotAvailable;
}

/** Unique, not null, a row changed twice by one statement. */
const refusedStates = new Set(["23505", "23502", "21000"]);

export function isRowRefused(error: unknown): boolean {
  return refusedStates.has(sqlStateOf(error) ?? "");
}

/** No such table, column or schema. */
const missingStates = new Set(["42P01", "42703", "3F000"]);
/** Prisma's codes for the same. */
const missingCodes = new Set(["P2021", "P2022"]);
export const notMigrated =
  "The database does not have the tables of this version of Vitrine. An operator must run: npx vitrine migrate.";

/** Whether a pending migration may create what is missing; otherwise the statement is wrong. */
function isNotMigrated(error: unknown): boolean {
  if (isKnownMigrated()) return false;
  return missingStates.has(sqlStateOf(error) ?? "") || missingCodes.has(codeOf(error) ?? "");
}

/** UNAVAILABLE for an unavailable database; other errors are returned unchanged. */
export function mapDatabaseError(error: unknown): unknown {
  if (isNotMigrated(error)) return new AppError("UNAVAILABLE", notMigrated, { retryAfterSeconds: 30, cause: error });
  if (!isUnavailable(error)) return error;
  return new AppError("UNAVAILABLE", refusalOf(error), { retryAfterSeconds: 1, cause: error });
}

function refusalOf(error: unknown): string {
  if (isInDoubt(error)) {
    return "The connection to the database was lost. The change may or may not have been stored; it can be sent again.";
  }
  const fault = faultOf(error);
  if (fault === "read-only") return "The database is read-only at the moment. Nothing was changed.";
  if (fault === "damaged") return "The files of the database are damaged. Nothing was changed.";
  if (fault === "disk full") return "The disk of the database is full. Nothing was changed.";
  if (isLockTimeout(error)) return "The data is locked by another request. Nothing was changed.";
  return "The database cannot be used at the moment. Nothing was changed.";
}

const inDoubtStates = /^(?:08...|57P0[12])$/u;
const inDoubtCodes = new Set(["P1008", "P1017", "ECONNRESET", "EPIPE", "ETIMEDOUT"]);
const inDoubtKinds = new Set(["ConnectionClosed", "SocketTimeout"]);
const lostConnection = /Connection terminated(?! due to connection timeout)|not queryable/u;

/** Whether the connection was lost before the response, so that the statement may have been executed. */
function isInDoubt(error: unknown): boolean {
  return (
    inDoubtCodes.has(codeOf(error) ?? "") ||
    inDoubtKinds.has(adapterCause(error)?.kind ?? "") ||
    inDoubtStates.test(sqlStateOf(error) ?? "") ||
    isNodeLost(error) ||
    (error instanceof Error && lostConnection.test(error.message))
  );
}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  if (hasUnavailableCode(error)) return true;
  if (faultOf(error) !== undefined || isShardGone(error) || isNodeLost(error)) return true;
  return error instanceof Error && unavailableMessage.test(error.message);
}

function hasUnavailableCode(error: unknown): boolean {
  const [code = "", kind = "", state = ""] = [codeOf(error), adapterCause(error)?.kind, sqlStateOf(error)];
  return (
    unavailableCodes.has(code) ||
    unavailableSystemCodes.test(code) ||
    unavailableKinds.has(kind) ||
    unavailableStates.test(state) ||
    retryableStates.has(state)
  );
}

/** The code of an error of the system, of pg or of Prisma. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Prisma puts it in different places for raw and generated queries. */
export function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code;
  const cause = adapterCause(error);
  const state = cause?.originalCode ?? cause?.code ?? metaOf(error).code;
  return typeof state === "string" ? state : undefined;
}

/** The database's own message in one line, if the driver adapter has it. */
export function serverMessageOf(error: unknown): string | undefined {
  return adapterCause(error)?.originalMessage ?? (error instanceof Error ? error.message : undefined);
}

interface AdapterCause {
  readonly kind?: string;
  readonly originalCode?: unknown;
  readonly originalMessage?: string;
  readonly code?: unknown;
}

/** Prisma wraps the driver adapter's errors, except those of BEGIN and COMMIT. */
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
