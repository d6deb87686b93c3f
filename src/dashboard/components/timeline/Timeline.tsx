import { useMemo } from "preact/hooks";
import { formatCount, formatDuration, formatPoint, moneyFormat } from "../../format.js";
import type { ShowAnalytics } from "../../queries/show.js";
import { fillBuckets, isRunningAt, type TimelineRange, type TimelineSpan } from "../../buckets.js";
import { Segments } from "../Elements.js";
import { TimelineChart } from "./TimelineChart.js";
import { PointTable } from "./PointTable.js";

interface Props {
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
  readonly range: TimelineRange;
  readonly onRange: (range: TimelineRange) => void;
}

const ranges = [
  ["show", "During the show"],
  ["all", "Until now"],
] as const;

export function Timeline({ analytics, span, range, onRange }: Props) {
  const { timeline, peakConcurrentViewers, status, kpis, watchingNow } = analytics;
  const points = useMemo(() => fillBuckets(timeline, span, Date.now(), watchingNow), [timeline, span, watchingNow]);
  const [first, last] = [points[0]?.startsAtMs ?? 0, points.at(-1)?.startsAtMs ?? 0];
  const formatMoney = moneyFormat(kpis.sales.currency);
  const formatTime = (ms: number) => formatPoint(ms, span.bucketSeconds, last - first);
  const each = { bucketSeconds: span.bucketSeconds, points, formatTime, isRunning: isRunningAt(last, span) };
  return (
    <section class="card" aria-labelledby="timeline-heading">
      <header class="card-header">
        <div>
          <h2 id="timeline-heading">Over time</h2>
          <p class="muted small">
            In steps of {formatDuration(span.bucketSeconds)}. Most viewers at once: {formatCount(peakConcurrentViewers)}
            .
          </p>
        </div>
        {status !== "LIVE" && <Segments legend="Timeline" options={ranges} value={range} onChange={onRange} />}
      </header>
      <div class="charts">
        <TimelineChart {...each} name="Viewers" figure="viewers" shape="area" format={formatCount} />
        <TimelineChart {...each} name="Added to cart" figure="carts" format={formatCount} />
        <TimelineChart {...each} name="Orders" figure="orders" format={formatCount} />
        <TimelineChart {...each} name="Sales" figure="sales" format={formatMoney} />
      </div>
      <PointTable
        label="Timeline as a table"
        columns={[
          ["Viewers", ({ viewers }) => formatCount(viewers)],
          ["Added to cart", ({ carts }) => formatCount(carts)],
          ["Orders", ({ orders }) => formatCount(orders)],
          ["Sales", ({ sales }) => formatMoney(sales)],
        ]}
        points={points}
        isEmpty={({ viewers, carts, orders }) => viewers + carts + orders <= 0}
        formatTime={formatTime}
      />
    </section>
  );
}
