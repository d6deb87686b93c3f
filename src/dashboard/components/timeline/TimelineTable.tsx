import { useState } from "preact/hooks";
import { formatCount, type FormatMoney } from "../../format.js";
import type { Point } from "../../timeline.js";

interface Props {
  readonly points: readonly Point[];
  readonly formatTime: (ms: number) => string;
  readonly formatMoney: FormatMoney;
}

/** The buckets that are not empty, rendered once opened. */
export function TimelineTable({ points, formatTime, formatMoney }: Props) {
  const [isOpen, setOpen] = useState(false);
  const busy = isOpen ? points.filter((point) => point.viewers + point.carts + point.orders > 0) : [];
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Time line as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Viewers</th>
              <th scope="col">Added to cart</th>
              <th scope="col">Orders</th>
              <th scope="col">Sales</th>
            </tr>
          </thead>
          <tbody>
            {busy.map((point) => (
              <tr key={point.startsAtMs}>
                <th scope="row">{formatTime(point.startsAtMs)}</th>
                <td>{formatCount(point.viewers)}</td>
                <td>{formatCount(point.carts)}</td>
                <td>{formatCount(point.orders)}</td>
                <td>{formatMoney(point.sales)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
