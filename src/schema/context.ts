import type { Identity } from "../access/identity.js";
import type { RateLimits } from "../access/rateLimit.js";
import type { LiveFeed } from "../analytics/feed/feed.js";
import type { RootDatabase } from "../database/client.js";
import type { UnparsedValue } from "../lib/json/body.js";
import type { AnswerBudget } from "./answerBudget.js";
import type { Observation } from "./observation.js";

export type Original = ({ readonly value: unknown } | { readonly unparsed: UnparsedValue }) & {
  /** Whether a single value counts as a list of one, as in GraphQL. */
  readonly takesSingles: boolean;
};

/** A body that is a file: its text, or the path of a temporary copy. */
export type UploadSource = { readonly text: string } | { readonly file: string };

/** What an import says about its file. */
export interface FileReading {
  /** The layout, if one was asked for. */
  readonly format?: string | undefined;
  /** What is not stored, and how the file was read; with a layout. */
  readonly notes?: readonly string[] | undefined;
  /** Of a dry run: the first products. */
  readonly preview?: readonly object[] | undefined;
}

export interface Context {
  readonly db: RootDatabase;
  readonly identity: Identity;
  /** For subscriptions. @throws {AppError} UNAUTHENTICATED once the token has expired or is revoked */
  readonly confirmIdentity: () => Promise<unknown>;
  /** Aborted when the client disconnects. */
  readonly disconnectSignal: () => AbortSignal;
  /** Whether the client has disconnected. */
  readonly isGone: () => boolean;
  readonly answer: AnswerBudget;
  readonly requestId: string;
  /** Long values that are not parsed yet, by placeholder. */
  readonly unparsed?: ReadonlyMap<string, UnparsedValue> | undefined;
  /** The body of an import that is a file. */
  readonly upload?: UploadSource | undefined;
  /** Its options, as they were sent. */
  readonly uploadOptions?: Readonly<Record<string, string>> | undefined;
  readonly onFileRead?: ((reading: FileReading) => void) | undefined;
  /** In bytes. */
  readonly bodyLength?: number | undefined;
  /** Values that imports read in their original form, by placeholder. */
  readonly originals?: ReadonlyMap<string, Original> | undefined;
  /** Whether imports only look for problems, since the request is refused anyway. */
  readonly isCheckOnly?: boolean;
  readonly observation: Observation;
  /** The Idempotency-Key, and a fingerprint of path and body. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  readonly bulkProductsMax: number;
  readonly rateLimits: RateLimits;
  readonly feed: LiveFeed;
  /** Relative to the URL of the request, for any proxy. */
  readonly docsUrl: string;
  /** Sets a response header, unless they are sent. */
  readonly setHeader: (name: string, value: string) => void;
  readonly reportError: (error: unknown) => void;
}
