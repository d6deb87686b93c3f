export interface StreamFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** Written immediately, so that the client receives the headers. */
  readonly opening: Buffer;
  readonly heartbeat: Buffer;
  readonly closing: Buffer;
  /** @param result a GraphQL result as JSON */
  frame(result: string): Buffer;
}

const common = {
  connection: "keep-alive",
  "cache-control": "no-cache",
  "content-encoding": "none",
  "x-accel-buffering": "no", // otherwise nginx holds values back (see proxy_buffering in its manual)
};

/** The graphql-sse protocol, distinct connections mode. */
export const serverSentEvents: StreamFormat = {
  headers: { "content-type": "text/event-stream", ...common },
  opening: Buffer.from(":\n\n"),
  heartbeat: Buffer.from(":\n\n"),
  closing: Buffer.from("event: complete\ndata:\n\n"),
  frame: (result) => Buffer.from(`event: next\ndata: ${result}\n\n`),
};

const delimiter = "\r\n--graphql";
/** Ends with the delimiter of the next part, because it tells clients that this part is complete. */
const part = (json: string) => Buffer.from(`\r\ncontent-type: application/json\r\n\r\n${json}${delimiter}`);

/** The protocol of Apollo Client and Apollo Router, version 1.0. */
export const multipart: StreamFormat = {
  headers: { "content-type": 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0', ...common },
  opening: Buffer.concat([Buffer.from(delimiter), part("{}")]),
  heartbeat: part("{}"),
  closing: Buffer.from("--\r\n"),
  frame: (result) => part(`{"payload":${result}}`),
};
