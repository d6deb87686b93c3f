import { usePage } from "../../hooks/usePage.js";
import { useShow } from "../../hooks/useShow.js";
import type { ShowSummary } from "../../queries/show.js";
import { byBeginning } from "../../showList.js";
import { TopProducts } from "../show/Rankings.js";
import { ShowHeader } from "../show/ShowHeader.js";
import { WallCharts } from "./WallCharts.js";
import { WallTiles } from "./WallTiles.js";

interface Props {
  readonly token: string;
  /** The first of the store; undefined until they have arrived. */
  readonly shows: readonly ShowSummary[] | undefined;
  /** Undefined for the show that runs, or else the latest. */
  readonly lsId: string | undefined;
  readonly onTokenEnd: () => void;
}

/** A show for a screen on the wall, without anything to click. */
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

/** The newest that runs, the latest that began, or the next one. */
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
