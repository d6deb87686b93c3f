import { useEffect, useState } from "preact/hooks";
import type { TimelineRange, TimelineSpan } from "../../buckets.js";
import { formatCount, formatDuration, moneyFormat } from "../../format.js";
import { useIntervalFigures } from "../../hooks/useIntervalFigures.js";
import { useSelection } from "../../hooks/useSelection.js";
import { useTimeline } from "../../hooks/useShow.js";
import type { ShowAnalytics } from "../../queries/show.js";
import { Problem, Segments } from "../Elements.js";
import { PointTable } from "../FigureTable.js";
import { axisOf, TimelineChart } from "../TimelineChart.js";
import { IntervalLayer, IntervalTable } from "./Intervals.js";
import { isShownAt, nameOf, Pins } from "./Pins.js";

interface Props {
  readonly token: string;
  readonly lsId: string;
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
  readonly range: TimelineRange;
  readonly onRange: (range: TimelineRange) => void;
}

const ranges = [
  ["show", "During the show"],
  ["all", "Until now"],
] as const;

const charts = [
  { name: "Viewers", figure: "viewers", shape: "area" },
  { name: "Added to cart", figure: "carts" },
  { name: "Orders", figure: "orders" },
  { name: "Sales", figure: "sales" },
] as const;

/** The charts of a show, with its pins below each, and the figures of intervals that are selected in them. */
export function Timeline({ token, lsId, analytics, span, range, onRange }: Props) {
  const { peakConcurrentViewers, status, kpis, moments: pins } = analytics;
  const each = useTimeline(analytics, span);
  const axis = axisOf(each.points, span.bucketSeconds);
  const selection = useSelection(axis, span.bucketSeconds);
  const [shown, setShown] = useState<{ readonly chart: string; readonly id: string }>();
  const figures = useIntervalFigures(token, { lsId, pin: shown?.id, intervals: selection.intervals });
  const formatMoney = moneyFormat(kpis.sales.currency);
  const pinned = status === "LIVE" ? pins.find((pin) => isShownAt(Date.now(), pin)) : undefined;
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (key !== "Escape" || (target as Element).closest("dialog, input") !== null) return;
      if (shown === undefined) selection.clear();
      else setShown(undefined);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [shown]);
  return (
    <section class="card" aria-labelledby="timeline-heading">
      <header class="card-header">
        <div>
          <h2 id="timeline-heading">Over time</h2>
          <p class="muted small">
            In steps of {formatDuration(span.bucketSeconds)}. Most viewers in a minute:{" "}
            {formatCount(peakConcurrentViewers)}. Drag over a chart to compare times.
            <span id="intervals-help" class="hidden">
              Arrow keys move the cursor, with Shift they extend the selection, Enter finishes it, and Escape removes
              it.
            </span>
          </p>
          {pinned && (
            <p class="small">
              Shown now: <strong dir="auto">{nameOf(pinned)}</strong>
            </p>
          )}
        </div>
        {status !== "LIVE" && <Segments legend="Timeline" options={ranges} value={range} onChange={onRange} />}
      </header>
      <div class="charts">
        {charts.map((chart) => (
          <TimelineChart
            key={chart.name}
            {...each}
            {...chart}
            format={chart.figure === "sales" ? formatMoney : formatCount}
            over={<IntervalLayer axis={axis} selection={selection} isMain={chart === charts[0]} />}
            handlers={selection.handlers}
            cursorMs={selection.draft?.headMs}
          >
            {pins.length > 0 && (
              <Pins
                pins={pins}
                axis={axis}
                isMain={chart === charts[0]}
                shown={shown?.chart === chart.name ? shown.id : undefined}
                onShown={(id) => setShown(id === undefined ? undefined : { chart: chart.name, id })}
                figures={figures.ofPin}
                formatMoney={formatMoney}
              />
            )}
          </TimelineChart>
        ))}
      </div>
      <Problem text={figures.problem} />
      <IntervalTable selection={selection} figures={figures.ofIntervals} formatMoney={formatMoney} />
      <PointTable
        label="Timeline as a table"
        columns={[
          ["Viewers", ({ viewers }) => formatCount(viewers)],
          ["Added to cart", ({ carts }) => formatCount(carts)],
          ["Orders", ({ orders }) => formatCount(orders)],
          ["Sales", ({ sales }) => formatMoney(sales)],
        ]}
        points={each.points}
        isEmpty={({ viewers, carts, orders }) => viewers + carts + orders <= 0}
        formatTime={each.formatTime}
      />
    </section>
  );
}
