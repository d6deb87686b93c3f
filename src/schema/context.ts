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

/** A body that is a file: its text, or the path of a copy that exists while the request is handled. */
export type UploadSource = { readonly text: string } | { readonly file: string };

/** What reading such a file showed, beside the counts of its products. */
export interface FileReading {
  /** The layout of the file, where one was asked for. */
  readonly format?: string | undefined;
  /** What of the file is not stored, and how it was read; where a layout was asked for. */
  readonly notes?: readonly string[] | undefined;
  /** In a dry run: the first products as they would be stored. */
  readonly preview?: readonly object[] | undefined;
}

export interface Context {
  readonly db: RootDatabase;
  readonly identity: Identity;
  /** For subscriptions. @throws {AppError} UNAUTHENTICATED once the token has expired or is revoked */
  readonly confirmIdentity: () => Promise<unknown>;
  /** Aborted when the client leaves. Created on demand. */
  readonly disconnectSignal: () => AbortSignal;
  /** Whether the client has left: to be checked before long work. */
  readonly isGone: () => boolean;
  readonly answer: AnswerBudget;
  readonly requestId: string;
  /** Long values of variables that are not parsed yet, by their placeholders. */
  readonly unparsed?: ReadonlyMap<string, UnparsedValue> | undefined;
  /** The products of an import, where the body is a file of them. */
  readonly upload?: UploadSource | undefined;
  /** How that file is read, as it was sent. */
  readonly uploadOptions?: Readonly<Record<string, string>> | undefined;
  /** Gets what reading that file showed. */
  readonly onFileRead?: ((reading: FileReading) => void) | undefined;
  /** In bytes. */
  readonly bodyLength?: number | undefined;
  /** Values that imports read in their original form, by their placeholders. Set by the pipeline. */
  readonly originals?: ReadonlyMap<string, Original> | undefined;
  /** Whether imports only find what is wrong with their products. Set by the pipeline for a request that is refused anyway. */
  readonly isCheckOnly?: boolean;
  readonly observation: Observation;
  /** The Idempotency-Key, and a fingerprint of path and body. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined;
  readonly bulkProductsMax: number;
  readonly rateLimits: RateLimits;
  /** Live figures of shows; gets notified of changes. */
  readonly feed: LiveFeed;
  /** The page of the documentation, relative to the URL of the request, so that it is right behind any proxy. */
  readonly docsUrl: string;
  /** Sets a header of the answer, unless its headers are sent already. */
  readonly setHeader: (name: string, value: string) => void;
  /** Logs an error that callers do not see. */
  readonly reportError: (error: unknown) => void;
}
