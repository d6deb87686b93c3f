import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Logger } from "pino";
import { AppError } from "../../errors.js";
import type { ExportCall } from "../../rest/exports/export.routes.js";
import type { Context } from "../../schema/context.js";
import { compressor, preferredCoding } from "../content/compress.js";
import type { Exchange } from "../exchange.js";
import { addVary, send } from "../respond.js";

/**
 * Answers with an export as it is made, compressed if the client accepts that. A slow client is disconnected as by
 * server/server.ts.
 *
 * @throws the error that rejected or interrupted the export
 */
export async function sendExport(
  call: ExportCall,
  { request, response, search }: Exchange,
  context: Context,
): Promise<void> {
  const isHead = request.method === "HEAD";
  const begun = await call.open(search, context, isHead);
  try {
    const coding = preferredCoding(request.headers["accept-encoding"]);
    addVary(response, "Accept-Encoding");
    const headers = {
      "content-type": call.mediaType,
      "content-disposition": `attachment; filename="${call.fileName}"`,
      ...(coding !== undefined && { "content-encoding": coding }),
    };
    if (isHead) return send(response, 200, headers);
    response.writeHead(200, headers);
    await pipe(begun.pieces, response, coding, context.access.endSignal());
  } finally {
    await begun.close();
  }
}

async function pipe(
  pieces: AsyncIterable<Buffer>,
  response: ServerResponse,
  coding: ReturnType<typeof preferredCoding>,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (coding === undefined) await pipeline(pieces, response, { signal });
    else await pipeline(pieces, compressor(coding), response, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Ends a response so that the client notices that it is incomplete. Unexpected errors are logged, as those of whole answers. */
export function endBroken({ response, requestId, observation }: Exchange, error: unknown, log: Logger): void {
  const { code } = error as { readonly code?: unknown };
  response.destroy();
  if (code === "ERR_STREAM_PREMATURE_CLOSE" || code === "CLIENT_CLOSED_REQUEST") return;
  if (error instanceof AppError) return observation.refused(error.code);
  observation.refused("INTERNAL");
  log.error({ requestId, err: error }, "request failed");
}
