import type { TargetedSubmitEvent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type DayCount, dayCounts, datesOf, type OwnDates, problemOfDates, type Range } from "../../overview/range.js";
import { Problem, Segments } from "../Elements.js";

interface Props {
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

type Choice = `${DayCount}` | "month" | "own";
const choices: readonly (readonly [Choice, string])[] = [
  ...dayCounts.map((days): [Choice, string] => [`${days}`, `${days} days`]),
  ["month", "This month"],
  ["own", "Own dates"],
];

/** The last days, this month, or own dates: these begin as the days of the range before. */
export function RangePicker({ range, onRange }: Props) {
  const choose = (choice: Choice) => {
    if (choice === "month") return onRange(choice);
    onRange(choice === "own" ? datesOf(range) : (Number(choice) as DayCount));
  };
  return (
    <div class="range">
      <Segments
        legend="Time"
        options={choices}
        value={typeof range === "object" ? "own" : `${range}`}
        onChange={choose}
      />
      {typeof range === "object" && <DatesForm range={range} onRange={onRange} />}
    </div>
  );
}

function DatesForm({ range, onRange }: { readonly range: OwnDates; readonly onRange: (range: Range) => void }) {
  const [dates, setDates] = useState(range);
  const [problem, setProblem] = useState<string>();
  useEffect(() => setDates(range), [range.firstDay, range.lastDay]);
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const found = problemOfDates(dates);
    setProblem(found);
    if (found === undefined) onRange(dates);
  };
  const field = (label: string, key: keyof OwnDates) => (
    <label>
      <span>{label}</span>
      <input
        type="date"
        value={dates[key]}
        aria-describedby="dates-problem"
        onInput={({ currentTarget }) => setDates({ ...dates, [key]: currentTarget.value })}
      />
    </label>
  );
  return (
    <form class="dates" noValidate onSubmit={submit}>
      {field("From", "firstDay")}
      {field("To", "lastDay")}
      <button type="submit">Apply</button>
      <Problem id="dates-problem" text={problem} />
    </form>
  );
}
