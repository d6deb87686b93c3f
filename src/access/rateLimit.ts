import type { Config } from "../config.js";
import { AppError } from "../errors.js";

/** What is counted together, whatever the style of the call. */
export type PolicyName = "analytics" | "product";

/** How many calls of a kind a store may make in a window, which begins with its first call. */
export interface Policy {
  readonly name: PolicyName;
  /** 1 or more. */
  readonly callsMax: number;
  readonly windowMs: number;
}

/** The policies in force; one with a limit of 0 is not among them. */
export type Policies = Readonly<Partial<Record<PolicyName, Policy>>>;

/** What became of a call that was to be counted. A call that is not granted was not counted. */
export interface Reservation {
  readonly policy: Policy;
  readonly isGranted: boolean;
  /** Calls left in this window. */
  readonly callsLeft: number;
  /** When the window ends, from now. */
  readonly resetMs: number;
}

/** Counts the calls of stores. Looking whether there is room and taking it is one step. It never throws. */
export interface CallCount {
  reserve(policy: Policy, storeId: string): Reservation | Promise<Reservation>;
  close(): void;
}

/** What the rate limit needs for a request. */
export interface RateLimits {
  readonly policies: Policies;
  readonly count: CallCount;
}

const windowMs = 60_000;

/** The policies that the configuration asks for. */
export function policiesOf({
  analyticsRateLimit,
  productRateLimit,
}: Pick<Config, "analyticsRateLimit" | "productRateLimit">): Policies {
  return {
    ...(analyticsRateLimit > 0 && { analytics: { name: "analytics", callsMax: analyticsRateLimit, windowMs } }),
    ...(productRateLimit > 0 && { product: { name: "product", callsMax: productRateLimit, windowMs } }),
  };
}

/** RATE_LIMITED, with the time after which a call is granted again. */
export function tooManyCalls({ policy, resetMs }: Pick<Reservation, "policy" | "resetMs">): AppError {
  const { name, callsMax, windowMs: perMs } = policy;
  const message = `The limit of ${callsMax} ${name} calls in ${perMs / 1_000} seconds is used up.`;
  return new AppError("RATE_LIMITED", message, { retryAfterSeconds: wholeSeconds(resetMs) });
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers, structured fields both: the policies under which a request was
 * counted, and what is left of each.
 */
export function rateLimitHeaders(
  reservations: readonly Reservation[],
): Readonly<Record<"RateLimit" | "RateLimit-Policy", string>> {
  const items = (parametersOf: (reservation: Reservation) => string) =>
    reservations.map((reservation) => `"${reservation.policy.name}";${parametersOf(reservation)}`).join(", ");
  return {
    "RateLimit-Policy": items(({ policy }) => `q=${policy.callsMax};w=${wholeSeconds(policy.windowMs)}`),
    RateLimit: items(({ callsLeft, resetMs }) => `r=${callsLeft};t=${wholeSeconds(resetMs)}`),
  };
}

/** Rounded up, so that whoever waits that long comes after the end of the window. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
