import type { GraphQLResolveInfo } from "graphql";
import { getGraphQLRateLimiter, type Identity, Store } from "graphql-rate-limit";
import { type Policy, type PolicyName, type Reservation, tooManyCalls } from "./policies.js";
import { cachedWith } from "../../lib/cached.js";
import type { Context } from "../context.js";

export type Resolver<Parent, Args, Result> = (
  parent: Parent,
  args: Args,
  context: Context,
  info: GraphQLResolveInfo,
) => Result | Promise<Result>;

/**
 * Limits the rate of a resolver or of a `subscribe` function. Each occurrence of the field in an operation is a call, even if it
 * fails, unless it fails before the resolver, for example because the token is missing.
 *
 * @example resolve: rateLimited("product", (_, { productId }, { db, identity }) => findProduct(db, identity.storeId,
 * productId))
 */
export function rateLimited<Parent, Args extends object, Result>(
  name: PolicyName,
  resolve: Resolver<Parent, Args, Result>,
): Resolver<Parent, Args, Result> {
  return (parent, args, context, info) => {
    if (context.limits.rates.policies[name] === undefined) return resolve(parent, args, context, info);
    return admit(name, context, info).then(() => resolve(parent, args, context, info));
  };
}

/** Limits a field of a list's nodes: all occurrences below one root field are one call. */
export function rateLimitedByRoot<Parent, Args extends object, Result>(
  name: PolicyName,
  resolve: Resolver<Parent, Args, Result>,
): Resolver<Parent, Args, Result> {
  return (parent, args, context, info) => {
    if (context.limits.rates.policies[name] === undefined) return resolve(parent, args, context, info);
    return admitRoot(name, context, info).then(() => resolve(parent, args, context, info));
  };
}

/**
 * Counts a root field, with all fields below it that the same policy limits, as one call.
 *
 * @param admission counts the call if it was not counted yet
 * @returns undefined without a limit
 * @throws {AppError} RATE_LIMITED
 */
export function admitRoot(
  name: PolicyName,
  context: Context,
  info: GraphQLResolveInfo,
  admission = () => admit(name, context, info),
): Promise<Reservation | undefined> {
  return cachedWith(context, `admitted ${name} ${rootKey(info)}`, admission);
}

function rootKey({ path }: GraphQLResolveInfo): string | number {
  let step = path;
  while (step.prev !== undefined) step = step.prev;
  return step.key;
}

/** Counts a field as a call. @returns undefined without a limit @throws {AppError} RATE_LIMITED */
async function admit(name: PolicyName, context: Context, info: GraphQLResolveInfo): Promise<Reservation | undefined> {
  const policy = context.limits.rates.policies[name];
  if (policy === undefined) return undefined;
  const store = new ReservationStore(policy, context);
  const limiter = getGraphQLRateLimiter({ store, identifyContext: ({ identity }: Context) => identity.storeId });
  // The counter knows the limit: graphql-rate-limit only sees whether this one call is granted.
  const refusal = await limiter({ parent: undefined, args: {}, context, info }, { max: 1 });
  const { reservation } = store;
  if (reservation !== undefined) announce(context, reservation);
  if (refusal === undefined) return reservation;
  context.observation.limited(policy.name);
  throw tooManyCalls(reservation ?? { policy, resetMs: policy.windowMs });
}

/** Counts a call that is not a field of an operation. @throws {AppError} RATE_LIMITED */
export async function admitCall(name: PolicyName, context: Context): Promise<void> {
  const policy = context.limits.rates.policies[name];
  if (policy === undefined) return;
  const reservation = await context.limits.rates.count.reserve(policy, context.identity.storeId);
  announce(context, reservation);
  if (reservation.isGranted) return;
  context.observation.limited(name);
  throw tooManyCalls(reservation);
}

const noCalls: readonly number[] = [];
const oneCall: readonly number[] = [Number.POSITIVE_INFINITY];

/**
 * The library reads and then writes, so that concurrent calls could all pass. Here reading reserves atomically, and writing
 * does nothing.
 */
class ReservationStore extends Store {
  reservation: Reservation | undefined;

  constructor(
    private readonly policy: Policy,
    private readonly context: Context,
  ) {
    super();
  }

  override async getForIdentity({ contextIdentity }: Identity): Promise<readonly number[]> {
    this.reservation = await this.context.limits.rates.count.reserve(this.policy, contextIdentity);
    return this.reservation.isGranted ? noCalls : oneCall;
  }

  override setForIdentity(): void {
    // done by getForIdentity
  }
}

/** Reports the latest reservation of each policy. */
export function announce(context: Context, reservation: Reservation): void {
  const latest = cachedWith(context, "reservations", () => new Map<PolicyName, Reservation>());
  latest.set(reservation.policy.name, reservation);
  context.notify({ kind: "counted", reservations: [...latest.values()] });
}
