import { useState } from "preact/hooks";

interface Props<Point> {
  readonly label: string;
  readonly columns: readonly (readonly [head: string, cellOf: (point: Point) => string])[];
  readonly points: readonly Point[];
  readonly isEmpty: (point: Point) => boolean;
  readonly formatTime: (ms: number) => string;
}

/** The points of a chart that are not empty, rendered once opened. */
export function PointTable<Point extends { readonly startsAtMs: number }>(props: Props<Point>) {
  const { label, columns, points, isEmpty, formatTime } = props;
  const [isOpen, setOpen] = useState(false);
  const busy = isOpen ? points.filter((point) => !isEmpty(point)) : [];
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {columns.map(([head]) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {busy.map((point) => (
              <tr key={point.startsAtMs}>
                <th scope="row">{formatTime(point.startsAtMs)}</th>
                {columns.map(([head, cellOf]) => (
                  <td key={head}>{cellOf(point)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
