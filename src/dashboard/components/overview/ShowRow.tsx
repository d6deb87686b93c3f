import { formatCount, formatDuration, formatMoment, formatRate, moneyFormat } from "../../format.js";
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
        <Link class="name" view={{ kind: "show", lsId: id }} onFollow={onFollow}>
          <span dir="auto">{name}</span>
        </Link>
        {status !== "ENDED" && <StatusBadge status={status} />}
      </th>
      <td>
        <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
      </td>
      {kpis && <Figures kpis={kpis} hasRefunds={hasRefunds} />}
    </tr>
  );
}

type FiguresProps = Pick<Props, "hasRefunds"> & { readonly kpis: NonNullable<ListedShow["kpis"]> };

function Figures({ kpis, hasRefunds }: FiguresProps) {
  const formatMoney = moneyFormat(kpis.sales.currency);
  return (
    <>
      <td>{formatMoney(kpis.sales.total)}</td>
      {hasRefunds && <td>{formatMoney(kpis.netSales.total)}</td>}
      <td>{formatCount(kpis.orders.total)}</td>
      <td>{formatCount(kpis.viewers.total)}</td>
      <td>{formatRate(kpis.addToCart.avg)}</td>
      <td>{formatDuration(kpis.avgViewTime.avg)}</td>
    </>
  );
}
