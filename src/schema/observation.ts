import type { PolicyName } from "../access/rateLimit.js";
import type { ErrorCode } from "../errors.js";
import type { OperationNames } from "./operationNames.js";

/** Reports the events of an operation to the access log, metrics and traces. Never throws. */
export interface Observation {
  begins(names: OperationNames): void;
  /** The operation is executed. Not for subscriptions, which end with their request. */
  ended(names: OperationNames, code: ErrorCode | undefined): void;
  refused(code: ErrorCode): void;
  limited(policy: PolicyName): void;
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Likewise, for an import. */
  importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result>;
  /** The import was a replay, which is not counted. */
  replayed(): void;
  /** Likewise, for shopper events. */
  recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result>;
}
