import type { Identity } from "../access/identity.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed.js";
import type { RootDatabase } from "../database/client.js";
import type { JsonString } from "../jsonString.js";
import type { Observation } from "./observation.js";

/** What every resolver gets: a fresh object for each request. */
export interface Context {
  readonly db: RootDatabase;
  readonly identity: Identity;
  /** For what goes on long after the request. @throws {AppError} UNAUTHENTICATED once the caller's token has ended */
  readonly confirmIdentity: () => Promise<unknown>;
  /** For what goes on until the client leaves: aborted then. Made when asked for, since few ask. */
  readonly departure: () => AbortSignal;
  readonly requestId: string;
  /** Set by the pipeline: parts of the variables for which something stands in, by ticket; see setAside.ts. */
  readonly aside?: ReadonlyMap<string, unknown> | undefined;
  /** A text in the variables that was too long to be parsed with them, by the ticket that stands in its place. */
  readonly longStrings?: ReadonlyMap<string, JsonString> | undefined;
  readonly observation: Observation;
  /** Where the request has an Idempotency-Key: that, as it was sent, and what tells requests of different content apart. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  /** Products that one request may import. */
  readonly bulkProductsMax: number;
  readonly rateLimits: RateLimits;
  /** Live figures of shows, and where changes to them are told. */
  readonly feed: LiveFeed;
  /** Sets a header of the answer; too late when the answer is already on its way. */
  readonly setHeader: (name: string, value: string) => void;
  /** Told of errors that callers are not told of. */
  readonly reportError: (error: unknown) => void;
}
