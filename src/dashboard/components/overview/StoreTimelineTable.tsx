import { useState } from "preact/hooks";
import { formatCount, type FormatMoney } from "../../format.js";
import type { StorePoint } from "../../overview/range.js";

interface Props {
  readonly points: readonly StorePoint[];
  readonly formatTime: (ms: number) => string;
  readonly formatMoney: FormatMoney;
}

/** The buckets that are not empty, rendered once opened. */
export function StoreTimelineTable({ points, formatTime, formatMoney }: Props) {
  const [isOpen, setOpen] = useState(false);
  const busy = isOpen ? points.filter(({ orders, carts, sales }) => orders + carts + sales > 0) : [];
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Show as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Figures over time as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Sales</th>
              <th scope="col">Orders</th>
              <th scope="col">Added to cart</th>
            </tr>
          </thead>
          <tbody>
            {busy.map(({ startsAtMs, sales, orders, carts }) => (
              <tr key={startsAtMs}>
                <th scope="row">{formatTime(startsAtMs)}</th>
                <td>{formatMoney(sales)}</td>
                <td>{formatCount(orders)}</td>
                <td>{formatCount(carts)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
