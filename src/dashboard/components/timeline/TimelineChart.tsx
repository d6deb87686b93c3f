import { useEffect, useRef, useState } from "preact/hooks";
import { createPlot, type Plot } from "../../plot.js";

type ChartFigure = "viewers" | "carts" | "orders" | "sales" | "netSales";

/** A bucket, with the figure of the chart. */
type ChartPoint = { readonly startsAtMs: number } & { readonly [Figure in ChartFigure]?: number };

interface Props {
  readonly name: string;
  readonly figure: ChartFigure;
  readonly points: readonly ChartPoint[];
  readonly bucketSeconds: number;
  readonly format: (value: number) => string;
  readonly formatTime: (ms: number) => string;
  /** What stands before a time. */
  readonly at?: string;
  readonly isTall?: boolean;
  /** A curve of what cannot be added up, such as viewers of different times; bars by default. */
  readonly shape?: "area";
  /** Whether the last bucket still grows: a curve is dashed there. */
  readonly isRunning?: boolean;
}

/** Draws the figure into an element. @returns the bucket at the pointer, too */
function usePlot({ points, figure, bucketSeconds, isTall = false, isRunning = false, ...props }: Props) {
  const [hovered, setHovered] = useState<number>();
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const shape = props.shape ?? "bars";
  useEffect(() => {
    if (element.current === null) return undefined;
    plot.current = createPlot(element.current, { shape, isTall, onHover: setHovered });
    return () => plot.current?.destroy();
  }, [shape, isTall]);
  useEffect(() => {
    const times = points.map(({ startsAtMs }) => startsAtMs);
    const values = points.map((point) => point[figure] ?? 0);
    plot.current?.setData(times, values, { bucketSeconds, isRunning });
  }, [points, figure, bucketSeconds, isRunning]);
  return { element, hovered };
}

/** One figure over time. Hovering shows the value at that time in all charts. */
export function TimelineChart(props: Props) {
  const { name, figure, points, format, formatTime, at = "at", isTall = false } = props;
  const { element, hovered } = usePlot(props);
  const valueOf = (point: ChartPoint) => point[figure] ?? 0;
  const say = (point: ChartPoint) => `${format(valueOf(point))} ${at} ${formatTime(point.startsAtMs)}`;
  const most = points.reduce<ChartPoint | undefined>(
    (best, point) => (valueOf(point) > (best === undefined ? 0 : valueOf(best)) ? point : best),
    undefined,
  );
  const summary = most === undefined ? "none" : `peak ${say(most)}`;
  const pointed = hovered === undefined ? undefined : points[hovered];
  return (
    <figure class="chart">
      <figcaption>
        <h3>{name}</h3>
        <span class="muted" aria-hidden={pointed !== undefined}>
          {pointed === undefined ? summary : say(pointed)}
        </span>
      </figcaption>
      <div
        ref={element}
        class={isTall ? "plot tall" : "plot"}
        role="img"
        aria-label={`${name} over time: ${summary}`}
      />
    </figure>
  );
}
