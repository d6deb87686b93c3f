import { useMemo } from "preact/hooks";
import { fillBuckets, isRunningAt, type TimelineSpan } from "../../buckets.js";
import { formatCount, formatPoint, moneyFormat } from "../../format.js";
import type { ShowAnalytics } from "../../queries/show.js";
import { TimelineChart } from "../timeline/TimelineChart.js";

interface Props {
  readonly analytics: ShowAnalytics;
  readonly span: TimelineSpan;
}

export function WallCharts({ analytics: { timeline, watchingNow, kpis }, span }: Props) {
  const points = useMemo(() => fillBuckets(timeline, span, Date.now(), watchingNow), [timeline, span, watchingNow]);
  const [first, last] = [points[0]?.startsAtMs ?? 0, points.at(-1)?.startsAtMs ?? 0];
  const formatTime = (ms: number) => formatPoint(ms, span.bucketSeconds, last - first);
  const each = { bucketSeconds: span.bucketSeconds, points, formatTime, isRunning: isRunningAt(last, span) };
  return (
    <section class="wall-charts card" aria-label="Over time">
      <TimelineChart {...each} name="Viewers" figure="viewers" shape="area" format={formatCount} />
      <TimelineChart {...each} name="Sales" figure="sales" format={moneyFormat(kpis.sales.currency)} />
    </section>
  );
}
