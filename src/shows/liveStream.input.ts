import { dateTimeMax } from "../lib/dateTime.js";
import type { Path, Problems } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";
import { textFault } from "../lib/text.js";
import type { LiveStreamStatus } from "./liveStream.js";

export interface LiveStreamInput {
  readonly id: string;
  readonly name: string;
  readonly status: LiveStreamStatus;
  readonly startedAt: Date;
  readonly durationSeconds?: number | null | undefined;
  readonly host?: HostInput | null | undefined;
}

export interface HostInput {
  readonly name: string;
  readonly email: string;
}

const durationSecondsMax = 366 * 86_400;
/** Tolerates clocks that differ. */
const fromNowMs = 10_000;

/** Checks every rule that needs no stored data. */
export function checkLiveStream(show: LiveStreamInput, path: Path, problems: Problems, now = Date.now()): void {
  checkText(show.id, 255, path, "id", problems);
  checkText(show.name, 1_000, path, "name", problems);
  checkStart(show, path, problems, now);
  const { durationSeconds } = show;
  if (!isGiven(durationSeconds)) {
    if (show.status === "ENDED" || show.status === "ARCHIVED") {
      const message = "durationSeconds is required unless the show is scheduled or live.";
      problems.add({ code: "REQUIRED", message, path: [...path, "durationSeconds"] });
    }
  } else if (durationSeconds < 0 || durationSeconds > durationSecondsMax) {
    const message = mustBe("durationSeconds", `from 0 to ${durationSecondsMax}`, durationSeconds);
    problems.add({ code: "INVALID_VALUE", message, path: [...path, "durationSeconds"] });
  } else if (show.startedAt.getTime() + durationSeconds * 1_000 > dateTimeMax.getTime()) {
    const message = `A show must end by ${dateTimeMax.toISOString()}.`;
    problems.add({ code: "INVALID_VALUE", message, path: [...path, "durationSeconds"] });
  }
  if (show.host) checkHost(show.host, [...path, "host"], problems);
}

export function checkHost({ name, email }: HostInput, path: Path, problems: Problems): void {
  checkText(name, 255, path, "name", problems);
  checkText(email, 255, path, "email", problems);
  if (/^[^\s@]+@[^\s@]+$/u.test(email)) return;
  const message = mustBe("email", "an e-mail address", email);
  problems.add({ code: "INVALID_VALUE", message, path: [...path, "email"] });
}

function checkStart({ status, startedAt }: LiveStreamInput, path: Path, problems: Problems, now: number): void {
  const fromNow = startedAt.getTime() - now;
  const report = (message: string) => problems.add({ code: "INVALID_VALUE", message, path: [...path, "startedAt"] });
  if (status === "LIVE" && fromNow > fromNowMs) {
    report("A LIVE show must not start in the future: save it as SCHEDULED until it starts.");
  }
  if (status === "SCHEDULED" && fromNow <= 0) {
    report("A SCHEDULED show must start in the future: save it as LIVE when it starts.");
  }
}

/**
 * Reports a text that is blank, too long, or not storable in PostgreSQL.
 *
 * @param path of the object that has the text as its field `name`
 */
export function checkText(text: string, charactersMax: number, path: Path, name: string, problems: Problems): void {
  const fault = textFault(text, name, charactersMax);
  if (fault !== undefined) problems.add({ ...fault, path: [...path, name] });
}

/** Neither null nor left out. */
export function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
