import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { DatabaseProbe } from "../../database/client.js";
import { AppError } from "../../errors.js";
import { withTimeout } from "../../lib/timers.js";
import { type CircuitBreaker, createCircuitBreaker } from "../../lib/circuitBreaker.js";
import type { Summary } from "./telemetry.js";

export interface RequestSpan {
  readonly traceId: string;
  run<Result>(work: () => Result): Result;
  end(summary: Summary): void;
}

/** Spans contain names and outcomes, never values that a caller sent. */
export interface Tracing {
  begin(request: IncomingMessage): RequestSpan;
  /** Runs work as a span of its request. Work outside of requests has no span. */
  within<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  readonly aroundQuery: NonNullable<DatabaseProbe["aroundQuery"]>;
  close(timeoutMs: number): Promise<void>;
}

/** For an export with all its retries. It is short, because shutdown may have to wait for it. */
const exportTimeoutMs = 3_000;
const sqlShownMax = 2_000;

/**
 * Sends batches over OTLP/HTTP as JSON. At most 2,048 spans wait; spans of a failed export are dropped. The SDK reads
 * OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and OTEL_BSP_* itself.
 *
 * @param endpoint base URL of a collector, to which /v1/traces is appended
 * @param warn called once when exports fail, and again only after one has succeeded
 */
export function createTracing(
  { endpoint, serviceName }: { readonly endpoint: string; readonly serviceName: string },
  warn: (problem: Error) => void,
): Tracing {
  const breaker = createCircuitBreaker(warn);
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ "service.name": serviceName })),
    spanProcessors: [new BatchSpanProcessor(createExporter(endpoint, breaker))],
  });
  const tracer = provider.getTracer("vitrine");
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Span>();

  const inside = <Result>(name: string, options: SpanOptions, work: () => Promise<Result>): Promise<Result> => {
    const parent = current.getStore();
    if (parent === undefined) return work();
    const span = tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent));
    return current.run(span, () => endedBy(work, span));
  };

  return {
    begin({ headers }) {
      const remote = propagator.extract(ROOT_CONTEXT, headers, headerGetter);
      const span = tracer.startSpan("request", { kind: SpanKind.SERVER }, remote);
      return {
        traceId: span.spanContext().traceId,
        run: (work) => current.run(span, work),
        end: (summary) => endRequest(span, summary),
      };
    },
    within: (name, work) => inside(name, {}, work),
    aroundQuery: (sql, send) => {
      const attributes = { "db.system.name": "postgresql", "db.query.text": sql.slice(0, sqlShownMax) };
      return inside(statementName(sql), { kind: SpanKind.CLIENT, attributes }, send);
    },
    close: (timeoutMs) => withTimeout(provider.shutdown(), timeoutMs, "The collector").catch(breaker.failed),
  };
}

/** Runs work, and ends the span with its outcome. */
async function endedBy<Result>(work: () => Promise<Result>, span: Span): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // Omit the message, because it may repeat what a caller sent.
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", error instanceof AppError ? error.code : "error");
    throw error;
  } finally {
    span.end();
  }
}

function endRequest(span: Span, summary: Summary): void {
  span.updateName(`${summary.method} ${summary.route}`);
  span.setAttributes(requestAttributes(summary));
  if (summary.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function createExporter(endpoint: string, breaker: CircuitBreaker): OTLPTraceExporter {
  const url = `${endpoint.replace(/(?<!\/)\/+$/u, "")}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: exportTimeoutMs });
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) breaker.answered();
      else breaker.failed(new Error(result.error?.message ?? "An export failed."));
      done(result);
    });
  return exporter;
}

const headerGetter = {
  keys: (headers: IncomingHttpHeaders) => Object.keys(headers),
  get: (headers: IncomingHttpHeaders, name: string) => headers[name],
};

/** Uses the names of OpenTelemetry's semantic conventions where they exist. */
function requestAttributes(summary: Summary): Attributes {
  const { requestId, storeId, code, names, method, route, status, outcome } = summary;
  return {
    "http.request.method": method === "other" ? "_OTHER" : method,
    "vitrine.request_id": requestId,
    "vitrine.outcome": outcome,
    ...(route !== "other" && { "http.route": route }),
    ...(status > 0 && { "http.response.status_code": status }),
    ...(code !== undefined && { "error.type": code }),
    ...(storeId !== undefined && { "vitrine.store": storeId }),
    ...(names !== undefined && { "graphql.operation.type": names.kind }),
  };
}

/** The SQL keyword, or the name in the leading comment. */
function statementName(sql: string): string {
  return /^\s*(?:\/\* (\w+) \*\/|(\w+))/u.exec(sql)?.slice(1).find(Boolean) ?? "query";
}
