import { usePage } from "./ConnectionNotice.js";
import { type Figures, useShow, useTimeline } from "../hooks/useShow.js";
import type { ShowSummary, ShowAnalytics } from "../queries/show.js";
import { byBeginning } from "../hooks/useShows.js";
import { TopProducts } from "./show/Rankings.js";
import { ShowHeader } from "./show/ShowHeader.js";
import { formatCount, moneyFormat, formatDecimal, formatRate, ratesOf, orDash } from "../format.js";
import { TimelineChart } from "./TimelineChart.js";

interface Props {
  readonly token: string;
  /** The first page of the store's shows; undefined until it has arrived. */
  readonly shows: readonly ShowSummary[] | undefined;
  /** Undefined for the running show or, if none runs, the latest. */
  readonly lsId: string | undefined;
  readonly onTokenEnd: () => void;
}

/** A show for a wall screen, without anything to click. */
export function Wall({ token, shows, lsId, onTokenEnd }: Props) {
  const shown = lsId ?? (shows === undefined ? undefined : currentOf(shows));
  return (
    <main class="wall">
      {shown === undefined ? (
        <p class="wall-text muted">{shows === undefined ? "Loading…" : "No shows yet"}</p>
      ) : (
        <WallShow key={shown} token={token} lsId={shown} onTokenEnd={onTokenEnd} />
      )}
    </main>
  );
}

/** The newest running show; otherwise the one that began last; otherwise the next one. */
function currentOf(shows: readonly ShowSummary[]): string | undefined {
  const { begun, scheduled } = byBeginning(shows);
  return (shows.find(({ status }) => status === "LIVE") ?? begun[0] ?? scheduled[0])?.id;
}

function WallShow({ token, lsId, onTokenEnd }: Pick<Props, "token" | "onTokenEnd"> & { readonly lsId: string }) {
  const { figures, connection } = useShow(token, { lsId, range: "show", by: "carts" });
  usePage(figures === undefined ? "Vitrine" : `${figures.analytics.name} – Vitrine`, connection, onTokenEnd);
  const problem = "failure" in connection ? connection.failure.message : undefined;
  if (figures === undefined) return <p class="wall-text muted">{problem ?? "Loading…"}</p>;
  const { analytics, span, by, withCatalog } = figures;
  return (
    <>
      <ShowHeader {...figures} connection={connection} />
      {problem !== undefined && <p class="notice">{problem}</p>}
      {analytics.status === "SCHEDULED" ? (
        <p class="wall-text muted">Figures appear here once the show is live.</p>
      ) : (
        <>
          <WallTiles analytics={analytics} />
          <div class="wall-parts">
            <WallCharts analytics={analytics} span={span} />
            <TopProducts products={analytics.topProducts.slice(0, 5)} by={by} withCatalog={withCatalog} />
          </div>
        </>
      )}
    </>
  );
}

function WallCharts({ analytics, span }: Pick<Figures, "analytics" | "span">) {
  const each = useTimeline(analytics, span);
  return (
    <section class="wall-charts card" aria-label="Over time">
      <TimelineChart {...each} name="Viewers" figure="viewers" shape="area" format={formatCount} />
      <TimelineChart {...each} name="Sales" figure="sales" format={moneyFormat(analytics.kpis.sales.currency)} />
    </section>
  );
}

/** Texts of at least this many characters are smaller. */
const longFrom = 10;

/** Figures large enough to be read from afar. */
function WallTiles({ analytics }: { readonly analytics: ShowAnalytics }) {
  return (
    <section class="wall-tiles" aria-label="Key figures">
      {tilesOf(analytics).map(([name, value]) => (
        <article key={name} class="tile">
          <h2>{name}</h2>
          <p class="value" data-long={value.length > longFrom}>
            {value}
          </p>
        </article>
      ))}
    </section>
  );
}

function tilesOf({ kpis, watchingNow, peakConcurrentViewers }: ShowAnalytics): (readonly [string, string])[] {
  const { sales, netSales, refunds, orders, viewers } = kpis;
  const formatMoney = moneyFormat(sales.currency);
  const { addToCart, conversionRate } = ratesOf(kpis);
  return [
    refunds.total > 0 ? ["Net sales", formatMoney(netSales.total)] : ["Sales", formatMoney(sales.total)],
    ["Orders", formatCount(orders.total)],
    typeof watchingNow === "number"
      ? ["Watching now", formatCount(watchingNow)]
      : ["Most viewers in a minute", formatCount(peakConcurrentViewers)],
    ["Viewers", formatCount(viewers.total)],
    ["Add to cart", orDash(formatRate)(addToCart)],
    ["Orders per 100 viewers", orDash(formatDecimal)(conversionRate)],
  ];
}
