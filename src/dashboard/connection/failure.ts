/** Kinds differ in what the user can do: sign in again, get a token that allows more, wait, choose another show, or report it. */
export type FailureKind =
  | "unauthenticated"
  | "forbidden"
  | "rateLimited"
  | "notFound"
  | "unreachable"
  | "broken"
  | "refused";

/** Why a call failed, with a message for users. */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The errors of a response; see docs/access.md. */
export interface GraphQLErrors {
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number; readonly requestId?: string };
  }[];
}

const kinds: Readonly<Record<string, FailureKind>> = {
  UNAUTHENTICATED: "unauthenticated",
  FORBIDDEN: "forbidden",
  RATE_LIMITED: "rateLimited",
  LIVE_STREAM_NOT_FOUND: "notFound",
  UNAVAILABLE: "unreachable",
  INTERNAL: "broken",
};

/** Failures that a proxy between page and server may report only by their status. */
const kindsOfStatus: Readonly<Record<number, FailureKind>> = { 401: "unauthenticated", 429: "rateLimited" };

/** The first error of a GraphQL response; undefined if there is none. */
export function failureIn({ errors = [] }: GraphQLErrors): Failure | undefined {
  const [error] = errors;
  if (error === undefined) return undefined;
  const { code = "", retryAfterSeconds, requestId } = error.extensions ?? {};
  const message = requestId === undefined ? error.message : `${error.message} (${requestId})`;
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000;
  return new Failure(kinds[code] ?? "refused", message, retryAfterMs);
}

/** The failure of an HTTP response, from its body or, without an error there, from its status. */
export async function failureOf(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as GraphQLErrors; // a proxy's response may not be JSON
  const reported = failureIn(body);
  const kind = reported?.kind ?? kindsOfStatus[response.status] ?? (response.status >= 500 ? "unreachable" : "refused");
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN); // this server sends no dates
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : reported?.retryAfterMs;
  return new Failure(kind, reported?.message ?? `The server answered ${response.status}.`, retryAfterMs);
}

export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const offline = typeof navigator !== "undefined" && !navigator.onLine;
  return new Failure("unreachable", offline ? "You are offline." : "The server cannot be reached.");
}
