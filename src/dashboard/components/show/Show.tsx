import { useState } from "preact/hooks";
import { fillBuckets, type TimelineRange } from "../../buckets.js";
import { saveTimeline } from "../../connection/exports.js";
import { moneyFormat } from "../../format.js";
import { usePage } from "../../hooks/usePage.js";
import { type Figures, useShow } from "../../hooks/useShow.js";
import type { TopProductFigure } from "../../queries/show.js";
import { ConnectionNotice } from "../ConnectionNotice.js";
import { ExportButton } from "../ExportButton.js";
import { Segments, Skeleton } from "../Elements.js";
import { KpiTiles } from "./KpiTiles.js";
import { Devices, TopProducts } from "./Rankings.js";
import { ShowOrders } from "./ShowOrders.js";
import { ShowControl } from "./ShowControl.js";
import { ShowHeader } from "./ShowHeader.js";
import { Timeline } from "../timeline/Timeline.js";

interface Props {
  readonly token: string;
  readonly lsId: string;
  readonly mayWrite: boolean;
  readonly onTokenEnd: () => void;
}

export function Show({ token, lsId, mayWrite, onTokenEnd }: Props) {
  const [range, setRange] = useState<TimelineRange>("show");
  const [by, setBy] = useState<TopProductFigure>("carts");
  const { figures, connection } = useShow(token, { lsId, range, by });
  usePage(figures === undefined ? "Vitrine dashboard" : `${figures.analytics.name} – Vitrine`, connection, onTokenEnd);
  return (
    <>
      {figures === undefined && <h1 class="hidden">Live show</h1>}
      {figures !== undefined && (
        <ShowHeader {...figures} connection={connection}>
          <Controls {...figures} token={token} lsId={lsId} mayWrite={mayWrite} />
        </ShowHeader>
      )}
      <ConnectionNotice
        connection={connection}
        hasFigures={figures !== undefined}
        isPolled={figures?.isPolled === true}
      />
      {figures === undefined ? (
        connection.phase === "connecting" && <Skeleton label="Loading the show" tiles={6} />
      ) : (
        <Body figures={figures} range={range} onRange={setRange} by={by} onBy={setBy} token={token} lsId={lsId} />
      )}
    </>
  );
}

type ControlsProps = Figures & Pick<Props, "token" | "lsId" | "mayWrite">;

function Controls({ analytics: { name, status, timeline }, span, token, lsId, mayWrite }: ControlsProps) {
  return (
    <>
      {status !== "SCHEDULED" && <ExportButton save={() => saveTimeline(lsId, fillBuckets(timeline, span))} />}
      {mayWrite && <ShowControl token={token} lsId={lsId} name={name} status={status} />}
    </>
  );
}

const productFigures = [
  ["carts", "Carts"],
  ["orders", "Orders"],
  ["sales", "Sales"],
] as const;

interface BodyProps extends Pick<Props, "token" | "lsId"> {
  readonly figures: Figures;
  readonly range: TimelineRange;
  readonly onRange: (range: TimelineRange) => void;
  /** What the products shall be ordered by. */
  readonly by: TopProductFigure;
  readonly onBy: (by: TopProductFigure) => void;
}

function Body({ figures, range, onRange, by, onBy, token, lsId }: BodyProps) {
  const { analytics, span, withCatalog } = figures;
  const { kpis, status, topProducts } = analytics;
  if (status === "SCHEDULED") {
    return <p class="empty card muted">This show is scheduled. Figures appear here once it is live.</p>;
  }
  const isEmpty = kpis.viewers.total === 0 && kpis.orders.total === 0;
  return (
    <>
      <KpiTiles kpis={kpis} />
      {isEmpty ? (
        <p class="empty card muted">Nothing has happened in this show yet. Figures appear here as events arrive.</p>
      ) : (
        <>
          <Timeline analytics={analytics} span={span} range={range} onRange={onRange} />
          <div class="pair">
            <TopProducts
              products={topProducts}
              by={figures.by}
              withCatalog={withCatalog}
              formatMoney={moneyFormat(kpis.sales.currency)}
            >
              <Segments legend="Figure of the products" options={productFigures} value={by} onChange={onBy} />
            </TopProducts>
            <Devices devices={kpis.devices} />
          </div>
          <ShowOrders token={token} lsId={lsId} currency={kpis.sales.currency} count={kpis.orders.total} />
        </>
      )}
    </>
  );
}
