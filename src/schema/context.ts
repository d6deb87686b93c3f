import type { RateLimits, Reservation } from "./limits/policies.js";
import type { Database, RootDatabase } from "../database/client.js";
import type { UnparsedValue } from "../lib/json/jsonBody.js";
import type { ResponseBudget } from "./limits/responseBudget.js";
import type { Observation } from "./operationNames.js";
import type { Granted } from "./scopes.js";

export type Original = (
  | { readonly value: unknown; readonly frame?: Buffer | undefined }
  | { readonly unparsed: UnparsedValue }
) & {
  /** As in GraphQL, a single value counts as a list of one. */
  readonly takesSingles: boolean;
};

/** The file that was sent as the body: its text, or the path of a temporary copy. */
export type UploadSource = { readonly text: string } | { readonly file: string };

export interface FileReading {
  readonly format?: string | undefined;
  /** What is not stored, and how the file was read. */
  readonly notes?: readonly string[] | undefined;
  /** The number of rows that are not products; notes name them. */
  readonly skipped?: number | undefined;
  /** What each column is used for. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** The first products of a dry run. */
  readonly preview?: readonly object[] | undefined;
}

/** What a request may do while its client is there and its token is valid. */
export interface RequestAccess {
  /** For mutations: sends nothing once the token has ended. */
  dbToWrite(): RootDatabase;
  /** Checks the token again if the last check was over a second ago. @throws {AppError} UNAUTHENTICATED once it has expired or is revoked */
  confirmSometimes(): Promise<void> | undefined;
  /** Aborted when the client leaves. */
  disconnectSignal(): AbortSignal;
  /** Aborted, with an AppError as its reason, when the client leaves, or within 5 seconds after the token has ended. */
  endSignal(): AbortSignal;
  /** Why a request failed: the end of its token or store if that caused the error, otherwise the error itself. */
  explain(error: unknown): Promise<unknown>;
  isGone(): boolean;
}

/** @param transaction in which the lock is held */
export type RequireState = (transaction: Database) => Promise<void>;

/** What a request sends besides its arguments, and GraphQL does not pass on. */
export interface Sent {
  /** Whether a REST path was called: there, products may have only the fields of a patch. */
  readonly isRest: boolean;
  /** The bytes of a long body. */
  readonly bodyLength?: number | undefined;
  /** The body's JSON without its long values. */
  readonly frame?: Buffer | undefined;
  /** Long values by placeholder. */
  readonly unparsed?: ReadonlyMap<string, UnparsedValue> | undefined;
  /** Values that imports read in their original form, by placeholder. */
  readonly originals?: ReadonlyMap<string, Original> | undefined;
  readonly upload?: UploadSource | undefined;
  /** Options for reading the file, as sent in the query string. */
  readonly uploadOptions?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The key, with a fingerprint of path and body. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  /**
   * Checks the condition of a write, once what it replaces is locked.
   *
   * @throws {AppError} PRECONDITION_FAILED, or what reading the state throws
   */
  readonly requireState?: RequireState | undefined;
  /** Imports only look for problems, because the request is refused anyway. */
  readonly isCheckOnly?: boolean;
}

interface Limits {
  /** Products in one request. */
  readonly bulkProductsMax: number;
  readonly rates: RateLimits;
  readonly response: ResponseBudget;
}

/** What a resolver tells the transport besides its result. The transport decides how to tell the client. */
export type Notice =
  /** The call used arguments that are deprecated since this date. */
  | { readonly kind: "deprecated"; readonly at: Date }
  /** The answer repeats that of an earlier request with the same key. */
  | { readonly kind: "replayed" }
  /** The latest call that was counted for each policy. */
  | { readonly kind: "counted"; readonly reservations: readonly Reservation[] }
  | { readonly kind: "fileRead"; readonly reading: FileReading };

/** Who calls: a token of a store. */
export interface Identity {
  readonly storeId: string;
  readonly tokenId: string;
  readonly scopes: Granted;
}

/** Tells subscribers that figures of a show have changed. figures/feed/feed.ts adds what subscriptions need. */
export interface LiveFeed {
  /** Returns immediately. */
  changed(storeId: string, lsId: string): void;
}

/**
 * Attributes the orders that events made due. Passed in, because the room of events may not import the room of orders.
 *
 * @returns the ids of the shows whose figures changed
 */
export type AttributeOrders = (
  db: RootDatabase,
  storeId: string,
  orderIds: readonly string[],
) => Promise<readonly string[]>;

/** What resolvers get. */
export interface Context {
  /** For reads. */
  readonly db: RootDatabase;
  readonly access: RequestAccess;
  readonly identity: Identity;
  readonly limits: Limits;
  readonly feed: LiveFeed;
  readonly attributeOrders: AttributeOrders;
  readonly sent: Sent;
  readonly notify: (notice: Notice) => void;
  readonly observation: Observation;
  /** For the reports of unexpected errors. */
  readonly requestId: string;
  readonly reportError: (error: unknown) => void;
}
