import type { Identity } from "../access/identity.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { RootDatabase } from "../database/client.js";
import type { UnparsedValue } from "../lib/json/body.js";
import type { AnswerBudget } from "./answerBudget.js";
import type { Observation } from "./observation.js";

/** A value as it was sent: parsed, or not yet. */
export type Original = ({ readonly value: unknown } | { readonly unparsed: UnparsedValue }) & {
  /** Whether a single value stands for a list of one, as GraphQL has it. */
  readonly takesSingles: boolean;
};

/** What every resolver gets: a fresh object for each request. */
export interface Context {
  readonly db: RootDatabase;
  readonly identity: Identity;
  /** For what goes on long after the request. @throws {AppError} UNAUTHENTICATED once the caller's token has ended */
  readonly confirmIdentity: () => Promise<unknown>;
  /** For what goes on until the client leaves: aborted then. Made when asked for, since few ask. */
  readonly disconnectSignal: () => AbortSignal;
  /** Whether the client has left: asked before what takes long begins, as often as that is. */
  readonly isGone: () => boolean;
  /** What the answer has come to so far. */
  readonly answer: AnswerBudget;
  readonly requestId: string;
  /** Long values of the variables that nobody has parsed yet, by the placeholders that stand for them. */
  readonly unparsed?: ReadonlyMap<string, UnparsedValue> | undefined;
  /** Of the request's body, in bytes. */
  readonly bodyLength?: number | undefined;
  /** Set by the pipeline: what imports take as it was sent, by the placeholders that stand for it. */
  readonly originals?: ReadonlyMap<string, Original> | undefined;
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
