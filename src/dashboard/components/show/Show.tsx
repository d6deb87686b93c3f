import { useState } from "preact/hooks";
import type { TimelineRange } from "../../buckets.js";
import { usePage } from "../../hooks/usePage.js";
import { type Figures, useShow } from "../../hooks/useShow.js";
import { ConnectionNotice } from "../ConnectionNotice.js";
import { Skeleton } from "../Elements.js";
import { KpiTiles } from "./KpiTiles.js";
import { Devices, TopProducts } from "./Rankings.js";
import { ShowHeader } from "./ShowHeader.js";
import { Timeline } from "../timeline/Timeline.js";

interface Props {
  readonly token: string;
  readonly lsId: string;
  readonly onTokenEnd: () => void;
}

export function Show({ token, lsId, onTokenEnd }: Props) {
  const [range, setRange] = useState<TimelineRange>("show");
  const { figures, connection } = useShow(token, lsId, range);
  usePage(figures === undefined ? "Vitrine dashboard" : `${figures.analytics.name} – Vitrine`, connection, onTokenEnd);
  return (
    <>
      {figures === undefined && <h1 class="hidden">Live show</h1>}
      {figures !== undefined && <ShowHeader {...figures} connection={connection} />}
      <ConnectionNotice
        connection={connection}
        hasFigures={figures !== undefined}
        isPolled={figures?.isPolled === true}
      />
      {figures === undefined ? (
        connection.phase === "connecting" && <Skeleton label="Loading the show" tiles={6} />
      ) : (
        <Body figures={figures} range={range} onRange={setRange} />
      )}
    </>
  );
}

interface BodyProps {
  readonly figures: Figures;
  readonly range: TimelineRange;
  readonly onRange: (range: TimelineRange) => void;
}

function Body({ figures: { analytics, span, withCatalog }, range, onRange }: BodyProps) {
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
            <TopProducts products={topProducts} withCatalog={withCatalog} />
            <Devices devices={kpis.devices} />
          </div>
        </>
      )}
    </>
  );
}
