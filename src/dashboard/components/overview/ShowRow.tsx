import { formatCount, formatDuration, formatMoment, formatRate, moneyFormat } from "../../format.js";
import { averagesOf, orDash } from "../../averages.js";
import type { ListedShow } from "../../queries/store.js";
import type { View } from "../../overview/view.js";
import { StatusBadge } from "../Elements.js";
import { Link } from "../Link.js";

interface Props {
  readonly show: ListedShow;
  readonly hasRefunds: boolean;
  readonly isPicked: boolean;
  /** Whether another one may be picked. */
  readonly mayPick: boolean;
  readonly onPick: (isPicked: boolean) => void;
  readonly onFollow: (view: View) => void;
}

export function ShowRow({ show: { id, name, status, startedAt, kpis }, hasRefunds, ...row }: Props) {
  const { isPicked, mayPick, onPick, onFollow } = row;
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Compare ${name}`}
          checked={isPicked}
          disabled={!isPicked && !mayPick}
          onChange={({ currentTarget }) => onPick(currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <Link class="name" dir="auto" view={{ kind: "show", lsId: id }} onFollow={onFollow}>
          {name}
        </Link>
        {status !== "ENDED" && <StatusBadge status={status} />}
      </th>
      <td data-label="Start">
        <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
      </td>
      {kpis && <Figures kpis={kpis} hasRefunds={hasRefunds} />}
    </tr>
  );
}

type FiguresProps = Pick<Props, "hasRefunds"> & { readonly kpis: NonNullable<ListedShow["kpis"]> };

function Figures({ kpis, hasRefunds }: FiguresProps) {
  const formatMoney = moneyFormat(kpis.sales.currency);
  const { addToCart, avgViewTime } = averagesOf(kpis);
  return (
    <>
      <td data-label="Sales">{formatMoney(kpis.sales.total)}</td>
      {hasRefunds && <td data-label="Net sales">{formatMoney(kpis.netSales.total)}</td>}
      <td data-label="Orders">{formatCount(kpis.orders.total)}</td>
      <td data-label="Viewers">{formatCount(kpis.viewers.total)}</td>
      <td data-label="Add to cart">{orDash(formatRate)(addToCart)}</td>
      <td data-label="View time">{orDash(formatDuration)(avgViewTime)}</td>
    </>
  );
}
