import { formatCount, formatDuration, formatMoment, formatRate, moneyFormat } from "../../format.js";
import type { ListedShow } from "../../operations.js";
import { queryOf } from "../../overview/view.js";
import { StatusBadge } from "../Elements.js";
import { Link } from "./Link.js";

interface Props {
  readonly show: ListedShow;
  readonly hasRefunds: boolean;
  readonly isPicked: boolean;
  /** Whether another one may be picked. */
  readonly mayPick: boolean;
  readonly onPick: (isPicked: boolean) => void;
  readonly onShow: () => void;
}

export function ShowRow({ show: { id, name, status, startedAt, kpis }, hasRefunds, ...row }: Props) {
  const { isPicked, mayPick, onPick, onShow } = row;
  const formatMoney = moneyFormat(kpis?.sales.currency);
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
        <Link class="name" query={queryOf({ kind: "show", lsId: id })} onFollow={onShow}>
          <span dir="auto">{name}</span>
        </Link>
        {status !== "ENDED" && <StatusBadge status={status} />}
      </th>
      <td>
        <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
      </td>
      <td>{formatMoney(kpis?.sales.total ?? 0)}</td>
      {hasRefunds && <td>{formatMoney(kpis?.netSales.total ?? 0)}</td>}
      <td>{formatCount(kpis?.orders.total ?? 0)}</td>
      <td>{formatCount(kpis?.viewers.total ?? 0)}</td>
      <td>{formatRate(kpis?.addToCart.avg ?? 0)}</td>
      <td>{formatDuration(kpis?.avgViewTime.avg ?? 0)}</td>
    </tr>
  );
}
