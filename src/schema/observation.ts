import type { PolicyName } from "../access/rateLimits/rateLimit.js";
import type { ErrorCode } from "../errors.js";
import type { OperationNames } from "./operationNames.js";

/** What ran an operation: Yoga, which calls graphql-js; graphql-js alone; or code that graphql-jit made of it. */
export type Execution = "yoga" | "interpreted" | "compiled";

/** Feeds the access log, metrics and traces. Never throws. */
export interface Observation {
  begins(names: OperationNames, execution?: Execution): void;
  /** Not called for subscriptions, which end with their request. */
  ended(names: OperationNames, code: ErrorCode | undefined): void;
  refused(code: ErrorCode): void;
  limited(policy: PolicyName): void;
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result>;
  /** Replays are not counted as imports. */
  replayed(): void;
  recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result>;
}
