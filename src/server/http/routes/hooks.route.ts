import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { createDeliver, type Deliver } from "../../../orders/hooks/storeDeliveries.js";
import {
  type FindHook,
  hooksPath,
  isSigned,
  type KnownHook,
  noteFault,
  createNoteRefused,
  isRefusal,
  type Refused,
} from "../../../orders/hooks/hook.js";
import { PayloadError } from "../../../orders/hooks/payload.js";
import { readShopify } from "../../../orders/hooks/shopify.js";
import { isPing, readWoocommerce } from "../../../orders/hooks/woocommerce.js";
import { currencyOf } from "../../../stores/store.currency.js";
import type { LiveFeed } from "../../../schema/context.js";
import type { Database, RootDatabase } from "../../../database/client.js";
import { withCaller } from "../../../database/shares/caller.js";
import { forStore } from "../../../database/shares/forStore.js";
import { AppError } from "../../../errors.js";
import { MethodNotAllowedError } from "../../../api/rest/handler.js";
import { receiveWhole } from "../../content/body.js";
import { conditionNotTaken, conditionOf, respondJson, send } from "../respond.js";
import type { Exchange, Route } from "../exchange.js";
import { sendRestError } from "../sendError.js";

export interface HooksRouteOptions {
  readonly db: RootDatabase;
  readonly log: Logger;
  readonly feed: LiveFeed;
  readonly findHook: FindHook;
}

const bodyBytesMax = 4 * 1_048_576;

const systems = {
  shopify: { read: readShopify, signature: "x-shopify-hmac-sha256", topic: "x-shopify-topic" },
  woocommerce: { read: readWoocommerce, signature: "x-wc-webhook-signature", topic: "x-wc-webhook-topic" },
} as const;

/**
 * `POST /hooks/v1/:id`, for deliveries of shop systems (docs/orders.md). Without a valid signature, the answer is 401 and no reason. A
 * signed delivery that we cannot use gets 200, because WooCommerce disables a hook after five other answers; `vitrine hook list` shows
 * how many there were, and why.
 */
export function createHooksRoute({ db, log, feed, findHook }: HooksRouteOptions): Route {
  const deliver = createDeliver((storeId, lsId) => feed.changed(storeId, lsId));
  const noteRefused = createNoteRefused(db);
  const noteUnread = async (path: string, code: Refused): Promise<void> => {
    const hook = await findHook(path.slice(hooksPath.length + 1)).catch(() => undefined);
    if (hook !== undefined) noteRefused(hook, code);
  };
  return async (exchange) => {
    const { request, response, observation, path } = exchange;
    observation.route = `${hooksPath}/:id`;
    try {
      if (request.method !== "POST") throw new MethodNotAllowedError(["POST"]);
      if (conditionOf(request) !== undefined) throw conditionNotTaken();
      const body = await readRaw(request);
      const hook = await findHook(path.slice(hooksPath.length + 1));
      if (hook === undefined) return refuseSignature(exchange);
      observation.storeId = hook.storeId;
      const signature = headerOf(request, systems[hook.from].signature);
      if (hook.from === "woocommerce" && signature === "" && isPing(body)) return respondJson(response, 200, {});
      if (!isSigned(body, signature, hook)) {
        noteRefused(hook, "UNAUTHENTICATED");
        return refuseSignature(exchange);
      }
      const confirm = async (within: Database) => {
        if ((await findHook(hook.id, within)) === undefined)
          throw new AppError("UNAUTHENTICATED", "The hook was removed.");
      };
      const ofHook = withCaller(forStore(db, hook.storeId), { id: hook.id, confirm });
      observation.delivered(hook.from, await take(ofHook, hook, { request, body, deliver }));
      respondJson(response, 200, {});
    } catch (error) {
      if (error instanceof AppError && isRefusal(error.code)) await noteUnread(path, error.code);
      sendRestError(exchange, error, log);
    }
  };
}

interface Delivery {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly deliver: Deliver;
}

/** @returns the outcome, for the metrics */
async function take(db: RootDatabase, hook: KnownHook, { request, body, deliver }: Delivery) {
  const { read, topic: topicHeader } = systems[hook.from];
  const topic = headerOf(request, topicHeader);
  try {
    const faults: string[] = [];
    const currency = await currencyOf(db, hook.storeId);
    const note = (fault: string): void => void faults.push(fault);
    const news = read(topic, { body, receivedAt: new Date(), currency, note });
    for (const fault of new Set(faults)) await noteFault(db, hook, fault);
    if (news === undefined) return "ignored";
    if (news === "unknown") {
      await noteFault(db, hook, `The topic ${topic.slice(0, 100)} is not known.`);
      return "unknown_topic";
    }
    await deliver(db, hook.storeId, news);
    return "stored";
  } catch (error) {
    if (!(error instanceof PayloadError)) throw error;
    await noteFault(db, hook, error.message.slice(0, 500));
    return "unusable";
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}

function refuseSignature({ response, observation }: Exchange): void {
  observation.refused("UNAUTHENTICATED");
  send(response, 401, { "content-length": 0 });
}

/** The signed bytes. @throws {AppError} PAYLOAD_TOO_LARGE, or UNSUPPORTED_MEDIA_TYPE if the body is compressed */
async function readRaw(request: IncomingMessage): Promise<Buffer> {
  if ((request.headers["content-encoding"] ?? "identity") !== "identity") {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "Deliveries are not compressed.");
  }
  return receiveWhole(request, bodyBytesMax);
}
