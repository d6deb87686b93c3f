import { useEffect, useRef, useState } from "preact/hooks";
import { formatPoint } from "../../format.js";
import { createPlot, type Plot } from "../../plot.js";
import type { Point } from "../../timeline.js";

interface Props {
  readonly name: string;
  readonly figure: "viewers" | "carts" | "orders" | "sales";
  readonly points: readonly Point[];
  readonly bucketSeconds: number;
  readonly format: (value: number) => string;
}

/** One figure over time. Hovering shows the value at that time in all charts. */
export function TimelineChart({ name, figure, points, bucketSeconds, format }: Props) {
  const [hovered, setHovered] = useState<number>();
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | undefined>(undefined);
  const isLevel = figure === "viewers"; // viewers of different times cannot be added up

  useEffect(() => {
    if (element.current === null) return undefined;
    plot.current = createPlot(element.current, { shape: isLevel ? "area" : "bars", onHover: setHovered });
    return () => plot.current?.destroy();
  }, [isLevel]);
  useEffect(() => {
    const times = points.map(({ startsAtMs }) => startsAtMs);
    plot.current?.setData(
      times,
      points.map((point) => point[figure]),
      bucketSeconds,
    );
  }, [points, figure, bucketSeconds]);

  const spanMs = (points.at(-1)?.startsAtMs ?? 0) - (points[0]?.startsAtMs ?? 0);
  const say = (point: Point) => `${format(point[figure])} at ${formatPoint(point.startsAtMs, bucketSeconds, spanMs)}`;
  const most = points.reduce<Point | undefined>(
    (best, point) => (point[figure] > (best?.[figure] ?? 0) ? point : best),
    undefined,
  );
  const summary = most === undefined ? "none" : `most ${say(most)}`;
  const pointed = hovered === undefined ? undefined : points[hovered];
  return (
    <figure class="chart">
      <figcaption>
        <h3>{name}</h3>
        <span class="muted" aria-hidden={pointed !== undefined}>
          {pointed === undefined ? summary : say(pointed)}
        </span>
      </figcaption>
      <div ref={element} class="plot" role="img" aria-label={`${name} over time: ${summary}`} />
    </figure>
  );
}
