import type { IncomingMessage } from "node:http";
import type { PolicyName } from "../access/rateLimits/rateLimit.js";
import type { ErrorCode } from "../errors.js";
import type { Execution, Observation } from "../schema/observation.js";
import type { OperationNames } from "../schema/operationNames.js";
import type { Metrics } from "./metrics.js";
import type { RequestSpan, Tracing } from "./tracing.js";

/** Collected while a request is handled; telemetry.ts summarizes it. */
export class RequestObservation implements Observation {
  readonly startedAt = performance.now();
  /** Pattern with the names of parameters. */
  route = "other";
  storeId: string | undefined;
  names: OperationNames | undefined;
  execution: Execution | undefined;
  code: ErrorCode | undefined;
  readonly span: RequestSpan | undefined;
  private isReplay = false;

  constructor(
    readonly requestId: string,
    request: IncomingMessage,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing | undefined,
  ) {
    this.span = tracing?.begin(request);
  }

  /** Runs the request's handler, within the request's span. */
  handle(work: () => Promise<void>): Promise<void> {
    return this.span === undefined ? work() : this.span.run(work);
  }

  begins(names: OperationNames, execution?: Execution): void {
    this.names = names;
    this.execution = execution;
  }

  ended({ style, fields }: OperationNames, code: ErrorCode | undefined): void {
    if (code !== undefined) this.code = code;
    for (const field of fields) this.metrics.operations.inc({ style, field, outcome: code ?? "ok" });
  }

  refused(code: ErrorCode): void {
    this.code = code;
  }

  limited(policy: PolicyName): void {
    this.metrics.limited.inc({ policy });
  }

  within<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    return this.tracing === undefined ? work() : this.tracing.within(name, work);
  }

  async importing<Result extends { readonly imported: number }>(work: () => Promise<Result>): Promise<Result> {
    const { imports, importedProducts } = this.metrics;
    const startedAt = performance.now();
    this.isReplay = false; // a request's mutations run one after the other
    const result = await this.within("import", work);
    if (this.isReplay) return result;
    imports.observe((performance.now() - startedAt) / 1_000);
    importedProducts.inc(result.imported);
    return result;
  }

  replayed(): void {
    this.isReplay = true;
  }

  /** A bot reported events, which are not stored. */
  bot(): void {
    this.metrics.bots.inc();
  }

  /** A shop system delivered something to a hook. */
  delivered(system: string, outcome: "stored" | "ignored" | "unknown_topic" | "unusable"): void {
    this.metrics.deliveries.inc({ system, outcome });
  }

  /** A request to /collect/v1 counts for the address of a proxy. */
  ofProxy(): void {
    this.metrics.ofProxies.inc();
  }

  async recording<Result extends { readonly accepted: number; readonly duplicates: number }>(
    work: () => Promise<Result>,
  ): Promise<Result> {
    const receipt = await this.within("record events", work);
    this.metrics.events.inc({ result: "accepted" }, receipt.accepted);
    this.metrics.events.inc({ result: "duplicate" }, receipt.duplicates);
    return receipt;
  }
}
