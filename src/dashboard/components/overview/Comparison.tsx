import {
  formatCount,
  formatDecimal,
  formatDuration,
  formatMoment,
  formatRate,
  moneyFormat,
  type Average,
  orDash,
  ratesOf,
} from "../../format.js";
import { useComparison } from "../../hooks/useOverview.js";
import { usePage, ConnectionNotice, ConnectionStatus } from "../ConnectionNotice.js";
import type { ComparedShow } from "../../queries/store.js";
import type { View } from "../../overview/view.js";
import { StatusBadge, Link } from "../Elements.js";
import { ProductName, Ranking } from "../show/Rankings.js";
import { ChangeBy } from "./OverviewTiles.js";

interface Props {
  readonly token: string;
  readonly lsIds: readonly [string, string];
  readonly onFollow: (view: View) => void;
  readonly onTokenEnd: () => void;
}

export function Comparison({ token, lsIds, onFollow, onTokenEnd }: Props) {
  const { value, connection } = useComparison(token, lsIds);
  usePage("Comparison – Vitrine", connection, onTokenEnd);
  return (
    <>
      <header class="show-header">
        <h1>Comparison</h1>
        <ConnectionStatus phase={connection.phase} />
      </header>
      <ConnectionNotice connection={connection} hasFigures={value !== undefined} isPolled={false} />
      {value !== undefined && (
        <>
          <section class="card" aria-label="Key figures">
            <div class="scroll wide" tabIndex={0} role="region" aria-label="Key figures of both shows">
              <Figures shows={value.shows} onFollow={onFollow} />
            </div>
          </section>
          <div class="pair">
            {value.shows.map((show) => (
              <Products key={show.id} show={show} />
            ))}
          </div>
        </>
      )}
    </>
  );
}

type Row = readonly [name: string, read: (show: ComparedShow) => Average, format: (value: number) => string];

function rowsOf(shows: readonly ComparedShow[]): readonly Row[] {
  const formatMoney = moneyFormat(shows[0]?.kpis.sales.currency);
  const hasRefunds = shows.some(({ kpis }) => kpis.refunds.total > 0);
  const refunds: readonly Row[] = [
    ["Refunds", ({ kpis }) => kpis.refunds.total, formatMoney],
    ["Net sales", ({ kpis }) => kpis.netSales.total, formatMoney],
  ];
  return [
    ["Duration", ({ durationSeconds }) => durationSeconds, formatDuration],
    ["Sales", ({ kpis }) => kpis.sales.total, formatMoney],
    ["Sales live", ({ kpis }) => kpis.sales.live, formatMoney],
    ["Sales in the replay", ({ kpis }) => kpis.sales.replay, formatMoney],
    ["Sales by referral", ({ kpis }) => kpis.sales.referral, formatMoney],
    ...(hasRefunds ? refunds : []),
    ["Orders", ({ kpis }) => kpis.orders.total, formatCount],
    ["Average order", ({ kpis }) => ratesOf(kpis).averageOrderValue, formatMoney],
    ["Viewers", ({ kpis }) => kpis.viewers.total, formatCount],
    ["Unique viewers", ({ kpis }) => kpis.viewers.unique, formatCount],
    ["Most viewers in a minute", ({ peakConcurrentViewers }) => peakConcurrentViewers, formatCount],
    ["Add to cart", ({ kpis }) => ratesOf(kpis).addToCart, formatRate],
    ["View time", ({ kpis }) => ratesOf(kpis).avgViewTime, formatDuration],
    ["Orders per 100 viewers", ({ kpis }) => ratesOf(kpis).conversionRate, formatDecimal],
  ];
}

interface FiguresProps {
  readonly shows: readonly [ComparedShow, ComparedShow];
  readonly onFollow: (view: View) => void;
}

function Figures({ shows, onFollow }: FiguresProps) {
  const [one, other] = shows;
  return (
    <table class="comparison">
      <thead>
        <tr>
          <td />
          {shows.map(({ id, name, status, startedAt }) => (
            <th key={id} scope="col">
              <Link view={{ kind: "show", lsId: id }} onFollow={onFollow}>
                <span dir="auto">{name}</span>
              </Link>
              <small class="muted">{formatMoment(startedAt)}</small>
              {status !== "ENDED" && <StatusBadge status={status} />}
            </th>
          ))}
          <th scope="col">Second against first</th>
        </tr>
      </thead>
      <tbody>
        {rowsOf(shows).map(([name, read, format]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{orDash(format)(read(one))}</td>
            <td>{orDash(format)(read(other))}</td>
            <td class="change small">
              {read(one) === 0 && (read(other) ?? 0) > 0 ? "–" : <ChangeBy now={read(other)} before={read(one)} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Products({ show: { id, name, topProducts, kpis } }: { readonly show: ComparedShow }) {
  const formatMoney = moneyFormat(kpis.sales.currency);
  const most = Math.max(1, ...topProducts.map(({ sales }) => sales));
  return (
    <section class="card" aria-labelledby={`products-of-${id}`}>
      <h2 id={`products-of-${id}`}>
        Best products of <span dir="auto">{name}</span>
      </h2>
      {topProducts.length === 0 ? (
        <p class="muted">No product has been put into a cart or ordered.</p>
      ) : (
        <Ranking
          heads={["Product", "Sales"]}
          items={topProducts}
          keyOf={({ productId }) => productId}
          nameOf={(product) => <ProductName {...product} share={product.sales / most} />}
          figureOf={({ sales }) => formatMoney(sales)}
        />
      )}
    </section>
  );
}
