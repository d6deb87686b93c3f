import { shownValue } from "../../lib/mustBe.js";

export type CueFormat = "srt" | "vtt";

/** What a file has as one moment. */
export interface MomentItem {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly value?: object;
  /** Why it cannot be read. */
  readonly fault?: string;
}

/** Hours, which WebVTT may leave out, minutes, seconds and milliseconds. */
const times = {
  srt: { pattern: /^(\d{1,6}):([0-5]\d):([0-5]\d),(\d{3})$/u, example: "00:01:30,000 --> 00:02:00,000" },
  vtt: { pattern: /^(?:(\d{1,6}):)?([0-5]\d):([0-5]\d)\.(\d{3})$/u, example: "00:01:30.000 --> 00:02:00.000" },
} as const;

const arrow = "-->";
/** Not `<3`, which is text. */
const tag = /<\/?(?:\p{L}|\d+:)[^<>]*>/gu;
const reference = /&([a-z]+|#39);/gu;
const references = new Map(
  Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " ", lrm: "\u{200e}", rlm: "\u{200f}" }),
);

/** The cues of an SRT or WebVTT file as moments of the kind SEGMENT. @param showStart the time of 00:00 */
export function* cuesOf(lines: readonly string[], format: CueFormat, showStart: Date): Generator<MomentItem, void> {
  const isVtt = format === "vtt";
  if (isVtt && !/^WEBVTT(?:\s|$)/u.test(lines[0] ?? "")) {
    yield { line: 1, fault: "A WebVTT file begins with the word WEBVTT." };
    return;
  }
  const ids = new Set<string>();
  let cues = 0;
  for (const { line, texts } of blocksOf(isVtt ? ["", ...lines.slice(1)] : lines)) {
    const timing = texts.findIndex((text) => text.includes(arrow));
    // What stands right below WEBVTT is about the file.
    if (timing === -1 && isVtt && (line === 2 || /^(?:NOTE|STYLE|REGION)(?:\s|$)/u.test(texts[0] ?? ""))) continue;
    cues += 1;
    const id = uniqueId(texts[timing - 1], cues, ids);
    const { at, ...item } = itemOf(id, texts, timing, format, showStart);
    yield { line: line + at, ...item };
  }
}

/** The lines between empty ones, with the number of the first. One of blanks counts as empty where a cue follows. */
function* blocksOf(lines: readonly string[]) {
  let texts: string[] = [];
  for (const [index, text] of [...lines, ""].entries()) {
    const isBlank = text.trim() === "";
    const isEmpty = text === "" || (isBlank && lines.slice(index + 1, index + 3).some((next) => next.includes(arrow)));
    if (!isEmpty && !(isBlank && texts.length === 0)) texts.push(text);
    else if (texts.length > 0) {
      yield { line: index + 1 - texts.length, texts };
      texts = [];
    }
  }
}

/** @param timing the index of the text with the times, or -1 */
function itemOf(id: string, texts: readonly string[], timing: number, format: CueFormat, showStart: Date) {
  if (timing === -1) return { at: 0, fault: `A cue needs a line with its times, and ${arrow} between them.` };
  const next = timing > 1 ? timing : texts.findIndex((text, index) => index > timing && text.includes(arrow));
  if (next !== -1) return { at: next, fault: "Before a cue there must be a blank line." };
  const given = texts[timing] ?? "";
  const [startedAt, endedAt] = readTimes(given, format, showStart);
  if (startedAt === undefined || endedAt === undefined) {
    const { example } = times[format];
    return { at: timing, fault: `The times of a cue must be such as ${example}, not ${shownValue(given)}.` };
  }
  return { at: timing, value: { id, kind: "SEGMENT", startedAt, endedAt, title: titleOf(texts.slice(timing + 1)) } };
}

/** The settings after the times say where a text is shown. */
function readTimes(text: string, format: CueFormat, showStart: Date) {
  const [start = "", rest = ""] = text.split(arrow);
  return [start.trim(), rest.trim().split(/\s/u, 1)[0] ?? ""].map((time) => {
    const [, hours = "0", minutes, seconds, thousandths] = times[format].pattern.exec(time) ?? [];
    if (minutes === undefined) return undefined;
    const elapsed = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return new Date(showStart.getTime() + elapsed * 1_000 + Number(thousandths));
  });
}

/** The text before the times, if it is not only a number. A repeated one gets the number of its cue, or the next one that is free. */
function uniqueId(textBefore: string | undefined, cue: number, ids: Set<string>): string {
  const identifier = textBefore?.trim() ?? "";
  const wanted = /^\d*$/u.test(identifier) ? `cue-${identifier || cue}` : identifier;
  let id = wanted;
  for (let number = cue; ids.has(id); number += 1) id = `${wanted}-${number}`;
  ids.add(id);
  return id;
}

/** Null for a cue without text. */
function titleOf(texts: readonly string[]): string | null {
  const shown = texts.flatMap((text) => text.trim() || []).join(" ");
  const text = shown.replaceAll(tag, "").replaceAll(reference, (written, name) => references.get(name) ?? written);
  return text.trim() || null;
}
