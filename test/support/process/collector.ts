import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span as OTLP writes it in JSON, with its attributes as an object. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code: number };
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** By OTLP's numbers. */
export const spanKind = { internal: 1, server: 2, client: 3 } as const;

/** A collector of traces: an HTTP server that takes OTLP in JSON. */
export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** The requests as they came, headers included. */
  readonly received: string[];
  readonly spans: ReceivedSpan[];
  close(): Promise<void>;
}

/** @param options.hangs never to answer */
export async function startCollector({ hangs = false } = {}): Promise<Collector> {
  const received: string[] = [];
  const spans: ReceivedSpan[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    received.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    spans.push(...readSpans(JSON.parse(body)));
    if (!hangs) response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    spans,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function readSpans({ resourceSpans }: any): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        ...span,
        service: readAttributes(resource.attributes)["service.name"],
        attributes: readAttributes(span.attributes),
      })),
    ),
  );
}

function readAttributes(attributes: { key: string; value: object }[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
