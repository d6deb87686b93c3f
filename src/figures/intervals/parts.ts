/** From a second on, until another one; both since 1970. */
export interface Range {
  readonly from: number;
  readonly until: number;
}

const minuteSeconds = 60;
/** A statement names each run, and reads what lies between runs that it joins. */
const runsMax = 8;

/**
 * The parts into which the ends of intervals divide the time from the first to the last of them. An interval is a sequence of parts, so
 * one statement reads each part once, however many intervals overlap.
 */
export class Parts {
  /** The seconds at which parts begin, in order, and the last at which one ends. */
  readonly bounds: readonly number[];
  readonly #places: ReadonlyMap<number, number>;
  readonly from: number;
  readonly until: number;

  /** @param intervals at least one, none of them empty */
  constructor(private readonly intervals: readonly Range[]) {
    this.bounds = [...new Set(intervals.flatMap(({ from, until }) => [from, until]))].toSorted((a, b) => a - b);
    this.#places = new Map(this.bounds.map((bound, index) => [bound, index + 1]));
    this.from = this.bounds[0] ?? 0;
    this.until = this.bounds.at(-1) ?? 0;
  }

  /** The numbers of an interval's parts, from 1. */
  *of({ from, until }: Range): Generator<number, void> {
    const end = this.#places.get(until) ?? 0;
    for (let part = this.#places.get(from) ?? end; part < end; part += 1) yield part;
  }

  /** The time that intervals cover. */
  runs(): Range[] {
    return joined(this.intervals);
  }

  /** The minutes within which an interval begins or ends. */
  dividedMinutes(): Range[] {
    const divided = this.bounds.filter((bound) => bound % minuteSeconds !== 0);
    const starts = divided.map((bound) => Math.floor(bound / minuteSeconds) * minuteSeconds);
    return joined(starts.map((from) => ({ from, until: from + minuteSeconds })));
  }
}

/** Few ranges that cover all of these: those that touch are joined, and then those with the shortest gaps. */
export function joined(ranges: readonly Range[]): Range[] {
  const runs = joinedOver(0, ranges);
  const gaps = runs.slice(1).map(({ from }, index) => from - (runs[index]?.until ?? from));
  const longestFirst = gaps.toSorted((a, b) => b - a);
  return joinedOver(longestFirst.at(runsMax - 1) ?? 0, runs);
}

/** @param gap ranges with a longer one between them are not joined */
function joinedOver(gap: number, ranges: readonly Range[]): Range[] {
  const runs: { from: number; until: number }[] = [];
  for (const { from, until } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = runs.at(-1);
    if (last !== undefined && from - last.until <= gap) last.until = Math.max(last.until, until);
    else runs.push({ from, until });
  }
  return runs;
}
