import type { Config } from "../../config.js";
import { AppError } from "../../errors.js";

/** GraphQL and REST calls count together. `collect` counts calls by client address and public key; `subscription` counts opened
 * subscriptions. */
export type PolicyName = "analytics" | "product" | "collect" | "subscription";

/** A window starts with the caller's first call. */
export interface Policy {
  readonly name: PolicyName;
  readonly callsMax: number;
  readonly windowMs: number;
}

/** A limit of 0 disables a policy. */
export type Policies = Readonly<Partial<Record<PolicyName, Policy>>>;

/** Calls that are not granted are not counted. */
export interface Reservation {
  readonly policy: Policy;
  readonly isGranted: boolean;
  readonly callsLeft: number;
  readonly resetMs: number;
}

/** Atomic. Never throws. */
export interface CallCounter {
  /** @param caller the store, or whatever else the policy counts by */
  reserve(policy: Policy, caller: string): Reservation | Promise<Reservation>;
  close(): void;
}

export interface RateLimits {
  readonly policies: Policies;
  readonly count: CallCounter;
}

const windowMs = 60_000;

export function policiesOf({
  analyticsRateLimit,
  productRateLimit,
  collectRateLimit,
  subscriptionRateLimit,
}: Pick<Config, "analyticsRateLimit" | "productRateLimit" | "collectRateLimit" | "subscriptionRateLimit">): Policies {
  return {
    ...(analyticsRateLimit > 0 && { analytics: { name: "analytics", callsMax: analyticsRateLimit, windowMs } }),
    ...(collectRateLimit > 0 && { collect: { name: "collect", callsMax: collectRateLimit, windowMs } }),
    ...(subscriptionRateLimit > 0 && {
      subscription: { name: "subscription", callsMax: subscriptionRateLimit, windowMs },
    }),
    ...(productRateLimit > 0 && { product: { name: "product", callsMax: productRateLimit, windowMs } }),
  };
}

export function tooManyCalls({ policy, resetMs }: Pick<Reservation, "policy" | "resetMs">): AppError {
  const { name, callsMax, windowMs: perMs } = policy;
  const message = `Rate limit exceeded: ${callsMax} ${name} calls in ${perMs / 1_000} seconds.`;
  return new AppError("RATE_LIMITED", message, { retryAfterSeconds: wholeSeconds(resetMs) });
}

/** draft-ietf-httpapi-ratelimit-headers. */
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

/** Rounded up, so that clients do not return too early. */
function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
