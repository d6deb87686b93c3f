import { formatCount, formatDecimal, moneyFormat, orDash } from "../../format.js";
import type { HostOfRange } from "../../queries/store.js";
import { FigureTable } from "../FigureTable.js";
import { Bar } from "../show/Rankings.js";

interface Props {
  readonly hosts: readonly HostOfRange[];
  readonly isCurrent: boolean;
  readonly currency: string | null | undefined;
}

/** Who presented, by their sales an hour. */
export function HostTable({ hosts, isCurrent, currency }: Props) {
  const formatMoney = moneyFormat(currency);
  const most = Math.max(1, ...hosts.map(({ salesPerHour }) => salesPerHour));
  return (
    <section class="card" aria-labelledby="hosts-heading" aria-busy={!isCurrent}>
      <header class="card-header">
        <h2 id="hosts-heading">Hosts by sales an hour</h2>
      </header>
      <div class="scroll wide" tabIndex={0} role="region" aria-label="Hosts">
        <FigureTable
          class="product-table"
          head="Host"
          columns={[
            ["Sales an hour", ({ salesPerHour }) => formatMoney(salesPerHour)],
            ["Net sales an hour", ({ netSalesPerHour }) => orDash(formatMoney)(netSalesPerHour ?? undefined)],
            ["Orders an hour", ({ ordersPerHour }) => formatDecimal(ordersPerHour)],
            ["Viewers an hour", ({ viewersPerHour }) => orDash(formatDecimal)(viewersPerHour ?? undefined)],
            ["Hours", ({ hours }) => formatDecimal(hours)],
            ["Sales", ({ sales }) => formatMoney(sales)],
            ["Orders", ({ orders }) => formatCount(orders)],
          ]}
          rows={hosts}
          keyOf={({ host }) => host.email}
          nameOf={({ host, salesPerHour }) => (
            <>
              <span class="name" dir="auto" title={host.email}>
                {host.name}
              </span>
              <Bar share={salesPerHour / most} />
            </>
          )}
        />
      </div>
    </section>
  );
}
