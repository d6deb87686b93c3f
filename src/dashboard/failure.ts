/** What a person can do about it: sign in again, wait, look for another show, or report it; a broken server may be mended. */
export type FailureKind = "unauthenticated" | "rateLimited" | "notFound" | "unreachable" | "broken" | "refused";

/** Why a call did not give what it was to give, in words for people. */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** From when on the server wants to be asked again. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** The errors of an answer, as docs/access.md describes them. */
export interface GraphQLErrors {
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly retryAfterSeconds?: number; readonly requestId?: string };
  }[];
}

const kinds: Readonly<Record<string, FailureKind>> = {
  UNAUTHENTICATED: "unauthenticated",
  RATE_LIMITED: "rateLimited",
  LIVE_STREAM_NOT_FOUND: "notFound",
  UNAVAILABLE: "unreachable",
  INTERNAL: "broken",
};

/** For what stands between the page and the server, and has its own limits. */
const kindsOfStatus: Readonly<Record<number, FailureKind>> = { 401: "unauthenticated", 429: "rateLimited" };

/** The failure that a GraphQL answer tells of, or undefined where it tells of none. */
export function failureIn({ errors = [] }: GraphQLErrors): Failure | undefined {
  const [error] = errors;
  if (error === undefined) return undefined;
  const { code = "", retryAfterSeconds, requestId } = error.extensions ?? {};
  const message = requestId === undefined ? error.message : `${error.message} (${requestId})`;
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1_000;
  return new Failure(kinds[code] ?? "refused", message, retryAfterMs);
}

/** The failure that an HTTP answer is: what its body says, or else its status. */
export async function failureOf(response: Response): Promise<Failure> {
  const body = (await response.json().catch(() => ({}))) as GraphQLErrors; // a proxy's answer may be no JSON
  const told = failureIn(body);
  const kind = told?.kind ?? kindsOfStatus[response.status] ?? (response.status >= 500 ? "unreachable" : "refused");
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN); // a date is not what this server sends
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : told?.retryAfterMs;
  return new Failure(kind, told?.message ?? `The server answered ${response.status}.`, retryAfterMs);
}

/** A failure from whatever was thrown. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const offline = typeof navigator !== "undefined" && !navigator.onLine;
  return new Failure("unreachable", offline ? "You are offline." : "The server cannot be reached.");
}
