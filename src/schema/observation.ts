import type { PolicyName } from "../access/rateLimit.js";
import type { ErrorCode } from "../errors.js";
import type { OperationNames } from "./operationNames.js";

/** What a request's operation tells of itself, for the access log, the metrics and the traces. None of it ever throws. */
export interface Observation {
  /** What the request asks for is known. */
  begins(names: OperationNames): void;
  /** It has been executed. Subscriptions have no such end: they end with their request. */
  ended(names: OperationNames, code: ErrorCode | undefined): void;
  /** The request is answered with this error, by whatever part of it that failed first. */
  refused(code: ErrorCode): void;
  /** A call was one too many under a policy. */
  limited(policy: PolicyName): void;
  /** Shows this work in traces, as a part of the request. */
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** Likewise, for an import. */
  importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result>;
  /** That import was carried out before: there is nothing to count. */
  replayed(): void;
  /** Likewise, for shopper events. */
  recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result>;
}
