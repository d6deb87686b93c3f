import type { Path, Problems } from "../../errors.js";
import { mustBe } from "../../lib/mustBe.js";
import { checkHost, checkText, type HostInput, isGiven } from "../liveStream.input.js";
import { timesOf } from "../liveStream.js";
import { type MomentKind, wholeSeconds } from "./moments.js";

export interface MomentInput {
  readonly id: string;
  readonly kind: MomentKind;
  readonly startedAt: Date;
  readonly endedAt?: Date | null | undefined;
  readonly productId?: string | null | undefined;
  readonly host?: HostInput | null | undefined;
  readonly title?: string | null | undefined;
}

/** What a file has as one moment. */
export interface MomentItem {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly value?: object;
  /** Why it cannot be read. */
  readonly fault?: string;
}

/** The most moments of a show. */
export const momentsMax = 2_000;

const dayMs = 86_400_000;

/** Checks every rule that needs no stored data. */
export function checkMoments(moments: readonly MomentInput[], path: Path, problems: Problems): void {
  if (moments.length > momentsMax) return addTooMany(path, problems);
  const ids = new Set<string>();
  for (const [index, moment] of moments.entries()) {
    const at = [...path, index];
    checkMoment(moment, at, problems);
    if (ids.has(moment.id)) {
      const message = "Another moment of this request has this id.";
      problems.add({ code: "DUPLICATE", message, path: [...at, "id"] });
    }
    ids.add(moment.id);
  }
}

export function addTooMany(path: Path, problems: Problems): void {
  const message = `A show has at most ${momentsMax.toLocaleString("en")} moments.`;
  problems.add({ code: "TOO_LONG", message, path });
}

function checkMoment({ kind, host, ...moment }: MomentInput, path: Path, problems: Problems): void {
  checkText(moment.id, 255, path, "id", problems);
  if (isGiven(moment.productId)) checkText(moment.productId, 255, path, "productId", problems);
  if (isGiven(moment.title)) checkText(moment.title, 1_000, path, "title", problems);
  if (isGiven(host)) checkHost(host, [...path, "host"], problems);
  const require = (name: string, value: unknown) => {
    if (isGiven(value)) return;
    problems.add({ code: "REQUIRED", message: `A ${kind} needs ${name}.`, path: [...path, name] });
  };
  if (kind === "PIN") require("productId", moment.productId);
  if (kind === "HOST") require("host", host);
  const { startedAt, endedAt } = moment;
  if (!isGiven(endedAt) || wholeSeconds(endedAt) >= wholeSeconds(startedAt)) return;
  const message = mustBe("endedAt", "at or after startedAt", endedAt);
  problems.add({ code: "INVALID_VALUE", message, path: [...path, "endedAt"] });
}

/** Reports moments that are not within their show: from a day before its start to a day after its end, or after now if it is live. */
export function checkWithinShow(
  moments: readonly MomentInput[],
  show: Parameters<typeof timesOf>[0],
  path: Path,
  problems: Problems,
): void {
  const earliest = wholeSeconds(show.startedAt).getTime() - dayMs;
  const { endedAt: showEnd } = timesOf(show);
  const now = new Date();
  const [end, endName] =
    showEnd !== null
      ? [showEnd, "the end of the show"]
      : now > show.startedAt
        ? [now, "now"]
        : [show.startedAt, "the start of the show"];
  const latest = end.getTime() + dayMs;
  for (const [index, { startedAt, endedAt }] of moments.entries()) {
    for (const [name, time] of Object.entries({ startedAt, endedAt })) {
      if (!isGiven(time)) continue;
      const rule =
        time.getTime() < earliest ? "at most a day before the start of the show" : `at most a day after ${endName}`;
      if (time.getTime() >= earliest && time.getTime() <= latest) continue;
      problems.add({ code: "INVALID_VALUE", message: mustBe(name, rule, time), path: [...path, index, name] });
    }
  }
}
