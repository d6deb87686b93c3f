import { query } from "../../connection/api.js";
import { formatCount, formatMoment, moneyFormat } from "../../format.js";
import { usePolled } from "../../hooks/usePolled.js";
import { type ShowOrder, showOrdersQuery } from "../../queries/orders.js";

interface Props {
  readonly token: string;
  readonly lsId: string;
  readonly currency: string | null | undefined;
  /** The show's orders. When the number changes, the list is queried again. */
  readonly count: number;
}

const first = 10;

/** The latest orders attributed to a show, each with its reason. Empty if the shop sends events without orders. */
export function ShowOrders({ token, lsId, currency, count }: Props) {
  const { value } = usePolled(
    async (signal) => (await query(showOrdersQuery, { lsId, first }, { token, signal })).orders,
    JSON.stringify([token, lsId, count]),
  );
  if (!value || value.nodes.length === 0) return null;
  const others = value.totalCount - value.nodes.length;
  return (
    <section class="card" aria-labelledby="orders-heading">
      <h2 id="orders-heading">Orders</h2>
      <ul class="orders">
        {value.nodes.map((order) => (
          <Order key={order.id} order={order} lsId={lsId} currency={currency} />
        ))}
      </ul>
      {others > 0 && <p class="muted small">and {formatCount(others)} more</p>}
    </section>
  );
}

function Order({ order, lsId, currency }: { readonly order: ShowOrder } & Pick<Props, "lsId" | "currency">) {
  const formatMoney = moneyFormat(currency);
  const own = order.attributions.filter(({ show }) => show?.id === lsId);
  const [amount, refunded] = [sum(own.map((part) => part.amount)), sum(own.map((part) => part.refunded))];
  return (
    <li>
      <p>
        <strong dir="auto">{order.id}</strong> <time dateTime={order.placedAt}>{formatMoment(order.placedAt)}</time>
        <span class="figure">{formatMoney(amount)}</span>
      </p>
      {own.map(({ because }) => (
        <p key={because} class="muted small" dir="auto">
          {because}
        </p>
      ))}
      {refunded > 0 && <p class="muted small">{formatMoney(refunded)} refunded</p>}
    </li>
  );
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0);
}
