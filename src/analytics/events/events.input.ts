import type { Path, Problem, Problems } from "../../errors.js";
import { checkText } from "../shows/liveStream.input.js";

export const shopperEventTypes = ["VIEW", "ADD_TO_CART", "ORDER"] as const;
export const channels = ["LIVE", "REPLAY", "REFERRAL"] as const;
type ShopperEventType = (typeof shopperEventTypes)[number];
export type Channel = (typeof channels)[number];

/** What a shopper did, as callers report it. */
export interface ShopperEventInput {
  readonly id: string;
  readonly type: ShopperEventType;
  readonly channel: Channel;
  readonly viewerId?: string | null | undefined;
  readonly device?: string | null | undefined;
  /** View time. */
  readonly seconds?: number | null | undefined;
  /** Of an order. */
  readonly amount?: number | null | undefined;
  readonly productId?: string | null | undefined;
  readonly occurredAt?: Date | null | undefined;
}

/** Events in one batch at most. */
export const batchEventsMax = 10_000;
const secondsMax = 86_400;
const amountMax = 1e9;

/** Between which moments events may have occurred. */
export interface EventSpan {
  /** Not known before the show was read. */
  readonly earliest?: Date;
  readonly latest: Date;
}

const beforeStartMs = 86_400_000;
/** Clocks differ. */
const fromNowMs = 300_000;

/** @param startedAt of the show, where it is known */
export function eventSpan(startedAt?: Date): EventSpan {
  const latest = new Date(Date.now() + fromNowMs);
  return startedAt === undefined ? { latest } : { earliest: new Date(startedAt.getTime() - beforeStartMs), latest };
}

/** Checks one event against every rule; problems name the event by the path it came with. */
export function checkEvent(event: ShopperEventInput, path: Path, problems: Problems, span: EventSpan): void {
  const report = (field: string, code: Problem["code"], message: string) =>
    problems.add({ code, message, path: [...path, field] });

  checkText(event.id, 255, [...path, "id"], problems);
  for (const name of ["viewerId", "device", "productId"] as const) {
    const value = event[name];
    // An empty device is an unknown one.
    if (typeof value === "string" && !(name === "device" && value === "")) {
      checkText(value, 255, [...path, name], problems);
    }
  }
  checkMoment(event.occurredAt, span, report);
  checkRange(event.seconds, secondsMax, "seconds", report);
  checkRange(event.amount, amountMax, "amount", report);
  if (event.type === "ORDER") {
    if (!isGiven(event.amount)) report("amount", "REQUIRED", "An ORDER needs an amount.");
    return;
  }
  if (!isGiven(event.viewerId)) report("viewerId", "REQUIRED", `${event.type} needs a viewerId.`);
  if (event.channel === "REFERRAL") report("channel", "INVALID_VALUE", "The channel REFERRAL is for ORDER only.");
}

type Report = (field: string, code: Problem["code"], message: string) => void;

function checkMoment(moment: Date | null | undefined, { earliest, latest }: EventSpan, report: Report): void {
  if (!isGiven(moment)) return;
  if (moment > latest) report("occurredAt", "INVALID_VALUE", "occurredAt must be at most five minutes from now.");
  if (earliest === undefined || moment >= earliest) return;
  report("occurredAt", "INVALID_VALUE", "occurredAt must be at most a day before the start of the show.");
}

function checkRange(value: number | null | undefined, max: number, field: string, report: Report): void {
  if (!isGiven(value) || (value >= 0 && value <= max)) return;
  report(field, "INVALID_VALUE", `${field} must be from 0 to ${max}.`);
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
