import {
  formatChange,
  formatCount,
  formatDecimal,
  formatDuration,
  formatInterval,
  type FormatMoney,
  orDash,
} from "../../format.js";
import type { useSelection } from "../../hooks/useSelection.js";
import type { IntervalFigures } from "../../queries/intervals.js";
import { Announcement } from "../Elements.js";
import { FigureTable } from "../FigureTable.js";
import { type Interval, isWithin, placeOf } from "../TimelineChart.js";

type Selection = ReturnType<typeof useSelection>;

interface LayerProps {
  readonly axis: Interval;
  readonly selection: Selection;
  /** Whether this chart has the keyboard's cursor, which selects in all charts. */
  readonly isMain: boolean;
}

/** Selected intervals over a chart. */
export function IntervalLayer({ axis, selection: { intervals, draft, onKeyDown, onBlur }, isMain }: LayerProps) {
  const { fromMs, untilMs, headMs } = draft ?? { fromMs: axis.fromMs, untilMs: axis.fromMs, headMs: axis.fromMs };
  const slider = {
    role: "slider",
    tabIndex: 0,
    "aria-label": "Interval",
    "aria-describedby": "intervals-help",
    "aria-valuemin": axis.fromMs / 1_000,
    "aria-valuemax": axis.untilMs / 1_000,
    "aria-valuenow": headMs / 1_000,
    "aria-valuetext": formatInterval(fromMs, untilMs),
    onKeyDown,
    onBlur,
  } as const;
  return (
    <div class="plot-over" {...(isMain ? slider : { "aria-hidden": true })}>
      {intervals.map(
        (each, index) =>
          isWithin(each, axis) && (
            <span key={index} class="interval" data-number={index + 1} style={placeOf(each, axis)} />
          ),
      )}
      {draft && <span class="interval" style={placeOf(draft, axis)} />}
    </div>
  );
}

export type FigureColumn<Figures> = readonly [
  name: string,
  read: (figures: Figures) => number | null | undefined,
  format: (value: number) => string,
];

/** The figures of an interval or a pin. */
export const columnsOf = (formatMoney: FormatMoney): readonly FigureColumn<IntervalFigures>[] => [
  ["Length", ({ seconds }) => seconds, formatDuration],
  ["Sales", ({ sales }) => sales, formatMoney],
  ["Net sales", ({ netSales }) => netSales, formatMoney],
  ["Orders", ({ orders }) => orders, formatCount],
  ["Added to cart", ({ addToCart }) => addToCart, formatCount],
  ["Average viewers", ({ averageViewers }) => averageViewers, formatDecimal],
  ["Most at once", ({ peakViewers }) => peakViewers, formatCount],
  ["New viewers", ({ newViewers }) => newViewers, formatCount],
];

/** A cell for each column. A figure may not have arrived, or not be known. */
export function cellsOf<Figures>(columns: readonly FigureColumn<Figures>[], figures: Figures | undefined): string[] {
  return columns.map(([, read, format]) => (figures === undefined ? "…" : orDash(format)(read(figures) ?? undefined)));
}

interface TableProps {
  readonly selection: Selection;
  /** Of each selected interval; undefined until they have arrived. */
  readonly figures: readonly (IntervalFigures | undefined)[];
  readonly formatMoney: FormatMoney;
}

/** The figures of the selected intervals and, of two, their difference. */
export function IntervalTable({ selection: { intervals, clear }, figures, formatMoney }: TableProps) {
  const columns = columnsOf(formatMoney);
  const rows = intervals.map(({ fromMs, untilMs }, index) => ({
    name: `${index + 1}: ${formatInterval(fromMs, untilMs)}`,
    cells: cellsOf(columns, figures[index]),
  }));
  const [one, other] = figures;
  if (one && other)
    rows.push({
      name: "2 against 1",
      cells: columns.map(([, read, format]) => difference([one, other].map(read), format)),
    });
  const news = rows
    .slice(-intervals.length)
    .map(({ name, cells }) => [name, ...cells.map((cell, index) => `${columns[index]?.[0]} ${cell}`)]);
  const of = JSON.stringify([intervals, figures.map(Boolean)]);
  return (
    <>
      <Announcement of={of} text={figures.every(Boolean) ? news.join("; ") : ""} />
      {intervals.length > 0 && (
        <section class="selected" aria-label="Selected intervals">
          <div class="scroll wide" tabIndex={0} role="region" aria-label="Figures of the selected intervals">
            <FigureTable
              head="Selected"
              columns={columns.map(([column], index) => [
                column,
                ({ cells }: (typeof rows)[number]) => cells[index] ?? "",
              ])}
              rows={rows}
              keyOf={({ name }) => name}
              nameOf={({ name }) => name}
            />
          </div>
          {figures.some((each) => each?.isExact === false) && (
            <p class="muted small">Events of this time were removed: figures are those of whole minutes.</p>
          )}
          <button type="button" onClick={clear}>
            Clear selection
          </button>
        </section>
      )}
    </>
  );
}

/** How much more there is in the second, and in percent of the first if there was anything. */
function difference([before, now]: readonly (number | null | undefined)[], format: (value: number) => string): string {
  if (typeof before !== "number" || typeof now !== "number") return "–";
  const sign = now > before ? "+" : now < before ? "−" : "";
  const absolute = `${sign}${format(Math.abs(now - before))}`;
  return before > 0 && sign !== "" ? `${absolute}\n${sign}${formatChange((now - before) / before)}` : absolute;
}
