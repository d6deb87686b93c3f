import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Logger } from "pino";
import { requireScope } from "../../../schema/scopes.js";
import { AppError } from "../../../errors.js";
import Negotiator from "negotiator";
import type { Context } from "../../../schema/context.js";
import { BatchRefused } from "../../../api/rest/batches.js";
import { pathNotFound, type RestCall, type RestHandler, type RestResponse } from "../../../api/rest/handler.js";
import type { ExportCall } from "../../../api/rest/exports/export.routes.js";
import { restBase } from "../../../api/rest/routes/route.js";
import { type BodyBudget, contentTypeOf, readBody, receive, requireJson } from "../../content/body.js";
import { withUpload } from "../../content/upload.js";
import {
  type Condition,
  conditionNotTaken,
  conditionOf,
  addVary,
  markPrivate,
  respondJson,
  respondRead,
  send,
} from "../respond.js";
import { type Exchange, isRead, type Route } from "../exchange.js";
import { type ContextOptions, createContext, fingerprintScope, refuseKey, withIdempotency } from "../requestContext.js";
import { sendRestError } from "../sendError.js";
import { compressor, preferredCoding } from "../../content/compress.js";

export interface RestRouteOptions extends ContextOptions {
  readonly rest: RestHandler;
  readonly bodies: BodyBudget;
}

/** Reads the body only after finding the operation, identifying the caller and checking the scope. */
export function createRestRoute(options: RestRouteOptions): Route {
  const { rest, log } = options;
  return async (exchange) => {
    const { request, response, observation, path, search } = exchange;
    try {
      if (isRead(request)) markPrivate(response);
      if (!path.startsWith(restBase)) throw pathNotFound();
      const call = rest.prepare(request.method ?? "", path);
      observation.route = call.route;
      const context = await createContext(options, exchange, true);
      requireScope(context.identity.scopes, call.scope);
      const condition = readHeaders(request, call);
      if ("open" in call) return await sendExport(call, exchange, context);
      const answer = call.takesBody
        ? await runWithBody(call, options, exchange, context, condition)
        : await call.run({ search, body: undefined, condition }, context);
      if ("problem" in answer) sendRestError(exchange, answer);
      else if (isRead(request)) respondRead(response, JSON.stringify(answer.body));
      else respondJson(response, 200, answer.body);
    } catch (error) {
      if (response.headersSent) return endBroken(exchange, error, log);
      sendRestError(exchange, error, log);
    }
  };
}

/**
 * The condition of a write. Refuses headers that would have no effect before anything is executed.
 *
 * @throws {AppError} BAD_REQUEST or NOT_ACCEPTABLE
 */
function readHeaders(request: IncomingMessage, call: RestCall | ExportCall): Condition | undefined {
  if ("open" in call || !call.takesKey) refuseKey(request);
  if (isExcluded(request.headers.accept, call.mediaType)) {
    throw new AppError("NOT_ACCEPTABLE", `This path answers as ${call.mediaType}, which Accept excludes.`);
  }
  if ("open" in call || isRead(request)) return undefined;
  const condition = conditionOf(request);
  if (condition !== undefined && !call.takesCondition) throw conditionNotTaken();
  return condition;
}

async function runWithBody(
  call: RestCall,
  { bodies, config }: RestRouteOptions,
  { request, response, path, search }: Exchange,
  context: Context,
  condition: Condition | undefined,
): Promise<RestResponse> {
  const { mediaType, isUtf8 } = contentTypeOf(request);
  if (isUtf8 && call.uploadTypes.includes(mediaType)) {
    call.checkParameters(search, "file");
    const { storeId } = context.identity;
    const options = {
      bytesMax: config.uploadBytesMax,
      storeId,
      bodies,
      signal: context.access.endSignal(),
      scope: `${path}?${search}\n${mediaType}`,
    };
    return withUpload(request, response, options, ({ source, fingerprint }) => {
      const own = withIdempotency(context, request, fingerprint);
      const within = { ...own, sent: { ...own.sent, upload: source } };
      return call.run({ search, body: undefined, isUpload: true }, within);
    });
  }
  const isInBatches = isUtf8 && call.batchTypes.includes(mediaType);
  if (!isInBatches) requireJson(request, call.bodyTypes);
  call.checkParameters(search, "members");
  if (isInBatches) return runBatches(call, request, context);
  const share = bodies.shareFor(response, context.identity.storeId);
  const body = await readBody(request, response, {
    bytesMax: config.bodyBytesMax,
    share,
    parent: [],
    fingerprintScope: fingerprintScope(request, path),
  });
  return call.run({ search, body, condition }, withIdempotency(context, request, body.fingerprint));
}

/** Executes a body of any size in constant memory, as it arrives. */
async function runBatches(call: RestCall, request: IncomingMessage, context: Context): Promise<RestResponse> {
  const batches = call.openBatches(context);
  try {
    await receive(request, (piece) => batches.push(piece), { signal: context.access.endSignal() });
    return { status: 200, body: await batches.end() };
  } catch (error) {
    if (!(error instanceof BatchRefused)) throw error;
    const { problem, retryAfterSeconds } = error;
    return { status: problem.status, problem, retryAfterSeconds };
  }
}

/**
 * Streams an export, compressed if the client accepts this. src/server/server.ts disconnects clients that do not read.
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

/** Ends a response so that the client notices that it is incomplete. Logs unexpected errors, as for complete answers. */
function endBroken({ response, requestId, observation }: Exchange, error: unknown, log: Logger): void {
  const { code } = error as { readonly code?: unknown };
  response.destroy();
  if (code === "ERR_STREAM_PREMATURE_CLOSE" || code === "CLIENT_CLOSED_REQUEST") return;
  if (error instanceof AppError) return observation.refused(error.code);
  observation.refused("INTERNAL");
  log.error({ requestId, err: error }, "request failed");
}

/** We ignore longer headers. */
const acceptLengthMax = 2_000;
/** A media type with the weight 0. */
const exclusion = /;[ \t]*q=0(?:\.0{0,3})?[ \t]*(?:,|$)/iu;

/**
 * Whether Accept excludes a media type by the weight 0. A type that it merely does not name is sent anyway, because each of the
 * documented paths has only one type.
 */
function isExcluded(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.length > acceptLengthMax || !exclusion.test(accept)) return false;
  const header = accept.includes("*/*") ? accept : `${accept}, */*;q=0.001`;
  return new Negotiator({ headers: { accept: header } }).mediaTypes([type]).length === 0;
}
