import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCompact, formatPoint } from "./format.js";

export interface Plot {
  /**
   * @param startsAtMs the start of each bucket
   * @param values one for each bucket
   */
  setData(startsAtMs: readonly number[], values: readonly number[], bucketSeconds: number): void;
  destroy(): void;
}

interface PlotOptions {
  readonly shape: "area" | "bars";
  readonly isTall: boolean;
  /** Called with the bucket at the pointer, in this chart or another of the timeline. */
  readonly onHover: (index: number | undefined) => void;
}

const height = 150;
const tallHeight = 220;
const dayMs = 86_400_000;

/** Draws a chart into an element, in its width and with the colors of its custom properties. */
export function createPlot(element: HTMLElement, { shape, isTall, onHover }: PlotOptions): Plot {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name).trim();
  let bucketSeconds = 60;
  const options: uPlot.Options = {
    ...sizeOf(element, isTall),
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: "timeline" }, y: false, drag: { x: false, y: false }, points: { show: shape === "area" } },
    scales: {
      x: { range: ({ data: [times] }) => widened(times, bucketSeconds / 2) },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.15)] },
    },
    axes: axesOf(color),
    series: [{}, seriesOf(shape, color)],
    hooks: { setCursor: [({ cursor: { idx } }) => onHover(idx ?? undefined)] },
  };
  const plot = new uPlot(options, [[], []], element);
  const sizes = new ResizeObserver(() => plot.setSize(sizeOf(element, isTall)));
  sizes.observe(element);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => plot.redraw(false, true);
  const destroyed = new AbortController();
  scheme.addEventListener("change", repaint, destroyed);
  addEventListener("beforeprint", repaint, destroyed);
  addEventListener("afterprint", repaint, destroyed);
  return {
    setData(startsAtMs, values, seconds) {
      bucketSeconds = seconds;
      // At the middle of each bucket, so that bars cover its time; those of days stand above their dates.
      const middle = seconds < 86_400 ? seconds / 2 : 0;
      plot.setData([startsAtMs.map((ms) => ms / 1_000 + middle), [...values]]);
    },
    destroy() {
      destroyed.abort();
      sizes.disconnect();
      plot.destroy();
    },
  };
}

function widened(times: ArrayLike<number>, by: number): [number, number] {
  return [(times[0] ?? 0) - by, (times[times.length - 1] ?? 1) + by];
}

type Color = (customProperty: string) => () => string;

function sizeOf({ clientWidth }: HTMLElement, isTall: boolean) {
  return { width: Math.max(1, clientWidth), height: isTall ? tallHeight : height };
}

function axesOf(color: Color): uPlot.Axis[] {
  const axis = { stroke: color("--muted"), font: "11px system-ui, sans-serif", ticks: { show: false }, gap: 6 };
  const x: uPlot.Axis = {
    ...axis,
    size: 24,
    incrs: timeSteps,
    space: 72,
    grid: { show: false },
    values: ({ data: [times] }, splits) => {
      const spanMs = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1_000;
      return splits.map((seconds) => formatPoint(seconds * 1_000, spanMs > 2 * dayMs ? 86_400 : 60, 0));
    },
  };
  const grid = { stroke: color("--line"), width: 1 };
  return [
    x,
    { ...axis, size: 44, space: 40, incrs: wholeSteps, grid, values: (_, splits) => splits.map(formatCompact) },
  ];
}

/** A minute or longer, as buckets are. */
const timeSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200, 129_600, 525_600,
].map((minutes) => minutes * 60);

/** 1, 2, 5, 10, 20 …: counts are integers. */
const wholeSteps = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

function seriesOf(shape: PlotOptions["shape"], color: Color): uPlot.Series {
  const points = { show: false };
  if (shape === "area") return { stroke: color("--accent"), width: 2, fill: color("--accent-faint"), points };
  const paths = uPlot.paths.bars?.({ size: [0.7, 28], radius: 0.15 }) ?? null;
  return { fill: color("--bar"), width: 0, points, ...(paths !== null && { paths }) };
}
