import { type Path, type Problem, Problems } from "../../errors.js";
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

/** The most moments of a show. */
export const momentsMax = 2_000;

const dayMs = 86_400_000;

type TimedShow = Parameters<typeof timesOf>[0];

/** What is wrong with moments of a show. */
export function momentProblems(moments: readonly MomentInput[], show: TimedShow, path: Path): Problems {
  const problems = new Problems();
  if (moments.length > momentsMax) {
    problems.add(tooManyMoments(path));
    return problems;
  }
  const ids = new Set<string>();
  for (const [index, moment] of moments.entries()) {
    const at = [...path, index];
    checkMoment(moment, at, problems);
    checkTimes(moment, show, at, problems);
    if (ids.has(moment.id)) {
      const message = "Another moment of this request has this id.";
      problems.add({ code: "DUPLICATE", message, path: [...at, "id"] });
    }
    ids.add(moment.id);
  }
  return problems;
}

export function tooManyMoments(path: Path): Problem {
  return { code: "TOO_LONG", message: `A show has at most ${momentsMax.toLocaleString("en")} moments.`, path };
}

const needed = new Map<MomentKind, "productId" | "host">([
  ["PIN", "productId"],
  ["HOST", "host"],
]);

function checkMoment(moment: MomentInput, path: Path, problems: Problems): void {
  const { id, kind, productId, host, title } = moment;
  checkText(id, 255, path, "id", problems);
  if (isGiven(productId)) checkText(productId, 255, path, "productId", problems);
  if (isGiven(title)) checkText(title, 1_000, path, "title", problems);
  if (isGiven(host)) checkHost(host, [...path, "host"], problems);
  const name = needed.get(kind);
  if (name !== undefined && !isGiven(moment[name]))
    problems.add({ code: "REQUIRED", message: `A ${kind} needs ${name}.`, path: [...path, name] });
}

/** A moment is within its show: from a day before its start to a day after its end, or after now if it is live. */
function checkTimes({ startedAt, endedAt }: MomentInput, show: TimedShow, path: Path, problems: Problems): void {
  const report = (name: string, rule: string, time: Date) =>
    problems.add({ code: "INVALID_VALUE", message: mustBe(name, rule, time), path: [...path, name] });
  const [end, endName] = lastBound(show);
  for (const [name, time] of Object.entries({ startedAt, endedAt })) {
    if (!isGiven(time)) continue;
    if (time.getTime() < wholeSeconds(show.startedAt).getTime() - dayMs)
      report(name, "at most a day before the start of the show", time);
    if (time.getTime() > end.getTime() + dayMs) report(name, `at most a day after ${endName}`, time);
  }
  if (isGiven(endedAt) && wholeSeconds(endedAt) < wholeSeconds(startedAt))
    report("endedAt", "at or after startedAt", endedAt);
}

function lastBound(show: TimedShow): [Date, string] {
  const { endedAt } = timesOf(show);
  const now = new Date();
  if (endedAt !== null) return [endedAt, "the end of the show"];
  return now > show.startedAt ? [now, "now"] : [show.startedAt, "the start of the show"];
}
