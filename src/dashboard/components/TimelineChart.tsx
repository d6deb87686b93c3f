import type { ComponentChildren, HTMLAttributes } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCompact, formatTick } from "../format.js";
import { timeZone } from "../timeZone.js";

type ChartFigure = "viewers" | "carts" | "orders" | "sales" | "netSales";

/** A bucket with the chart's figure. */
type ChartPoint = { readonly startsAtMs: number } & { readonly [Figure in ChartFigure]?: number };

interface Props {
  readonly name: string;
  readonly figure: ChartFigure;
  readonly points: readonly ChartPoint[];
  readonly bucketSeconds: number;
  readonly format: (value: number) => string;
  readonly formatTime: (ms: number) => string;
  /** The preposition before a time. */
  readonly at?: string;
  readonly isTall?: boolean;
  /** A curve, for figures that cannot be added up, such as viewers at different times. Bars by default. */
  readonly shape?: "area";
  /** Whether the last bucket still grows, so that a curve is dashed there. */
  readonly isRunning?: boolean;
  /** What lies over the plot, such as selected intervals, and the handlers of pointers there. */
  readonly over?: ComponentChildren;
  readonly handlers?: HTMLAttributes<HTMLDivElement>;
  /** The time at the keyboard's cursor. */
  readonly cursorMs?: number | undefined;
  /** Below the plot. */
  readonly children?: ComponentChildren;
}

/** From one time until another. */
export interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Points are at the middle of each bucket, so that bars cover its time. Bars of days are above their dates. */
const middleOf = (bucketSeconds: number): number => (bucketSeconds < 86_400 ? bucketSeconds / 2 : 0);

/** The times at both ends of a chart, along which each bar covers its time. */
export function axisOf(points: readonly ChartPoint[], bucketSeconds: number): Interval {
  const [first, last] = [points[0]?.startsAtMs ?? 0, points.at(-1)?.startsAtMs ?? 0];
  return { fromMs: first, untilMs: last + bucketSeconds * 1_000 };
}

/** Whether any of an interval lies along the axis. */
export const isWithin = ({ fromMs, untilMs }: Interval, axis: Interval): boolean =>
  fromMs < axis.untilMs && untilMs > axis.fromMs;

/** Where an interval lies along the axis of a chart. */
export function placeOf({ fromMs, untilMs }: Interval, axis: Interval) {
  const percentAt = (ms: number) => (100 * (ms - axis.fromMs)) / (axis.untilMs - axis.fromMs);
  const [left, right] = [fromMs, untilMs].map((ms) => Math.min(100, Math.max(0, percentAt(ms)))) as [number, number];
  return { left: `${left}%`, width: `${right - left}%` };
}

/** Draws the figure into an element. @returns the element's ref, and the index of the bucket at the pointer */
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

/** One figure over time. Hovering over a chart shows the values at that time in all charts. */
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
  const { cursorMs, over, handlers, children } = props;
  const atCursor = cursorMs === undefined ? -1 : points.findLastIndex(({ startsAtMs }) => startsAtMs <= cursorMs);
  const pointed = points[hovered ?? atCursor];
  const plot = (
    <div ref={element} class={isTall ? "plot tall" : "plot"} role="img" aria-label={`${name} over time: ${summary}`} />
  );
  return (
    <figure class="chart">
      <figcaption class="small">
        <h3>{name}</h3>
        <span class="muted" aria-hidden={pointed !== undefined}>
          {pointed === undefined ? summary : say(pointed)}
        </span>
      </figcaption>
      {over === undefined ? (
        plot
      ) : (
        <div class="plot-frame" {...handlers}>
          {plot}
          {over}
        </div>
      )}
      {children}
    </figure>
  );
}

interface Buckets {
  readonly bucketSeconds: number;
  /** Whether the last bucket still grows, so that a curve is dashed there. */
  readonly isRunning: boolean;
}

interface Plot {
  /**
   * @param startsAtMs the start of each bucket
   * @param values one for each bucket
   */
  setData(startsAtMs: readonly number[], values: readonly number[], buckets: Buckets): void;
  destroy(): void;
}

interface PlotOptions {
  readonly shape: "area" | "bars";
  readonly isTall: boolean;
  /** Called with the bucket at the pointer, which may be in another chart of the timeline. */
  readonly onHover: (index: number | undefined) => void;
}

const height = 150;
const tallHeight = 220;
const dayMs = 86_400_000;
/** How much larger text and lines are on a wall screen, where charts fill their places. */
const wallScale = 2;

const isOnWall = (element: HTMLElement): boolean => element.closest(".wall") !== null;

/** Draws a chart into an element, with the element's width and the colors of its custom properties. */
function createPlot(element: HTMLElement, { shape, isTall, onHover }: PlotOptions): Plot {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name).trim();
  const scale = isOnWall(element) ? wallScale : 1;
  let bucketSeconds = 60;
  const options: uPlot.Options = {
    ...sizeOf(element, isTall),
    padding: [8, 28 * scale, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), timeZone()),
    cursor: { sync: { key: "timeline" }, y: false, drag: { x: false, y: false }, points: { show: shape === "area" } },
    scales: {
      x: { range: ({ data: [times] }) => widened(times, bucketSeconds / 2) },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] },
    },
    axes: axesOf(color, scale),
    series: [{}, ...seriesOf(shape, color, scale)],
    hooks: { setCursor: [({ cursor: { idx } }) => onHover(idx ?? undefined)] },
  };
  const plot = new uPlot(options, dataOf(shape, [], [], false), element);
  const sizes = new ResizeObserver(() => plot.setSize(sizeOf(element, isTall)));
  sizes.observe(element);
  const destroyed = new AbortController();
  repaintWithColors(() => plot.redraw(false, true), destroyed);
  return {
    setData(startsAtMs, values, { bucketSeconds: seconds, isRunning }) {
      bucketSeconds = seconds;
      const times = startsAtMs.map((ms) => ms / 1_000 + middleOf(seconds));
      plot.setData(dataOf(shape, times, values, isRunning));
    },
    destroy() {
      destroyed.abort();
      sizes.disconnect();
      plot.destroy();
    },
  };
}

/** Repaints when colors change: in dark mode, and on paper. */
function repaintWithColors(repaint: () => void, { signal }: AbortController): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint, { signal });
  for (const name of ["beforeprint", "afterprint"]) addEventListener(name, repaint, { signal });
}

/** A curve has two series: the second leads to the last value if that still grows. */
function dataOf(
  shape: PlotOptions["shape"],
  times: number[],
  values: readonly number[],
  isRunning: boolean,
): uPlot.AlignedData {
  if (shape === "bars") return [times, [...values]];
  const last = values.length - 1;
  const full = values.map((value, index) => (isRunning && index === last ? null : value));
  const running = values.map((value, index) => (isRunning && index >= last - 1 ? value : null));
  return [times, full, running];
}

function widened(times: ArrayLike<number>, by: number): [number, number] {
  return [(times[0] ?? 0) - by, (times[times.length - 1] ?? 1) + by];
}

type Color = (customProperty: string) => () => string;

function sizeOf(element: HTMLElement, isTall: boolean) {
  const own = isTall ? tallHeight : height;
  return { width: Math.max(1, element.clientWidth), height: isOnWall(element) ? element.clientHeight : own };
}

function axesOf(color: Color, scale: number): uPlot.Axis[] {
  const axis = {
    stroke: color("--muted"),
    font: `${11 * scale}px system-ui, sans-serif`,
    ticks: { show: false },
    gap: 6,
  };
  const x: uPlot.Axis = {
    ...axis,
    size: 24 * scale,
    incrs: timeSteps,
    space: 72 * scale,
    grid: { show: false },
    values: ({ data: [times] }, splits) => {
      const spanMs = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1_000;
      return splits.map((seconds) => formatTick(seconds * 1_000, spanMs > 2 * dayMs));
    },
  };
  const grid = { stroke: color("--line"), width: 1 };
  return [
    x,
    {
      ...axis,
      size: 44 * scale,
      space: 40 * scale,
      incrs: wholeSteps,
      grid,
      values: (_, splits) => splits.map(formatCompact),
    },
  ];
}

/** Steps of the time axis. None is shorter than a bucket, which has at least a minute. */
const timeSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200, 129_600, 525_600,
].map((minutes) => minutes * 60);

/** 1, 2, 5, 10, 20 …, because counts are integers. */
const wholeSteps = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** A curve has a second series for its dashed part. */
function seriesOf(shape: PlotOptions["shape"], color: Color, scale: number): uPlot.Series[] {
  const points = { show: false };
  const line = { stroke: color("--accent"), width: 2 * scale, fill: color("--accent-faint"), points };
  if (shape === "area") return [line, { ...line, dash: [4, 4] }];
  const paths = uPlot.paths.bars?.({ size: [0.7, 28 * scale], radius: 0.15 }) ?? null;
  return [{ fill: color("--bar"), width: 0, points, ...(paths !== null && { paths }) }];
}
