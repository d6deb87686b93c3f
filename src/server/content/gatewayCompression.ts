import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "graphql-yoga";
import { compress, compressedLengthMin, preferredCoding } from "./compress.js";
import { addVary } from "../http/respond.js";

export const gatewayCompression: Plugin = {
  onResponse(answer) {
    const { response, fetchAPI } = answer;
    if (Number(response.headers.get("content-length") ?? 0) < compressedLengthMin) return undefined;
    const { req, res } = nodeExchange(answer.serverContext);
    addVary(res, "Accept-Encoding");
    const coding = preferredCoding(req.headers["accept-encoding"]);
    if (coding === undefined) return undefined;
    return (async () => {
      const compressed = await compress(Buffer.from(await response.arrayBuffer()), coding);
      if (compressed === undefined) return;
      const headers = new fetchAPI.Headers(response.headers);
      headers.set("content-encoding", coding);
      headers.set("content-length", String(compressed.length));
      answer.setResponse(new fetchAPI.Response(new Uint8Array(compressed), { status: response.status, headers }));
    })();
  },
};

/** Yoga puts both into the context of requests from node:http, and there are no others. */
function nodeExchange(serverContext: object): { readonly req: IncomingMessage; readonly res: ServerResponse } {
  return serverContext as { req: IncomingMessage; res: ServerResponse };
}
