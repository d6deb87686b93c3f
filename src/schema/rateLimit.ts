import type { GraphQLResolveInfo } from "graphql";
import { getGraphQLRateLimiter, type Identity, Store } from "graphql-rate-limit";
import { type Policy, type PolicyName, rateLimitHeaders, type Reservation, tooManyCalls } from "../access/rateLimit.js";
import type { Context } from "./context.js";

type Resolver<Parent, Args, Result> = (
  parent: Parent,
  args: Args,
  context: Context,
  info: GraphQLResolveInfo,
) => Result | Promise<Result>;

/**
 * A resolver whose calls are counted under a policy, one for each time that an operation names its field, and refused
 * beyond its limit before anything is done. A call counts whatever becomes of it, a 404 too; what fails before
 * its resolver, as for a missing token or arguments of a wrong type, does not. Around a `subscribe` function, starting
 * the subscription is the call.
 *
 * @example resolve: rateLimited("product", (_, { productId }, { db, identity }) => findProduct(db, identity.storeId, productId))
 */
export function rateLimited<Parent, Args extends object, Result>(
  name: PolicyName,
  resolve: Resolver<Parent, Args, Result>,
): Resolver<Parent, Args, Result> {
  return (parent, args, context, info) => {
    const policy = context.rateLimits.policies[name];
    if (policy === undefined) return resolve(parent, args, context, info);
    return admit(policy, args, context, info).then(() => resolve(parent, args, context, info));
  };
}

/** @throws {AppError} RATE_LIMITED */
async function admit(policy: Policy, args: object, context: Context, info: GraphQLResolveInfo): Promise<void> {
  const store = new ReservationStore(policy, context);
  const limiter = getGraphQLRateLimiter({ store, identifyContext: ({ identity }: Context) => identity.storeId });
  // The store alone knows the limit: to graphql-rate-limit there is room for this one call, or it is taken.
  const refusal = await limiter({ parent: undefined, args, context, info }, { max: 1 });
  const { reservation } = store;
  if (reservation !== undefined) announce(context, reservation);
  if (refusal === undefined) return;
  context.observation.limited(policy.name);
  throw tooManyCalls(reservation ?? { policy, resetMs: policy.windowMs });
}

const noCalls: readonly number[] = [];
/** A call that never leaves the window. */
const oneCall: readonly number[] = [Number.POSITIVE_INFINITY];

/**
 * What graphql-rate-limit reads calls from, and writes them to: two steps, between which others would pass. So reading
 * reserves, and there is nothing to write. One for each call, since it keeps what the count said of that call.
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
    this.reservation = await this.context.rateLimits.count.reserve(this.policy, contextIdentity);
    return this.reservation.isGranted ? noCalls : oneCall;
  }

  override setForIdentity(): void {
    // done by getForIdentity
  }
}

const latestByRequest = new WeakMap<Context, Map<PolicyName, Reservation>>();

/** Sets the headers for all policies under which this request was counted so far. */
function announce(context: Context, reservation: Reservation): void {
  const latest = latestByRequest.get(context) ?? new Map<PolicyName, Reservation>();
  latestByRequest.set(context, latest.set(reservation.policy.name, reservation));
  for (const [name, value] of Object.entries(rateLimitHeaders([...latest.values()]))) context.setHeader(name, value);
}
