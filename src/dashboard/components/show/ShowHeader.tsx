import type { ComponentChildren } from "preact";
import { formatCount, formatDuration, formatMoment } from "../../format.js";
import type { ShowAnalytics } from "../../queries/show.js";
import type { Connection } from "../../connection/reconnect.js";
import { useNow, ConnectionStatus } from "../ConnectionNotice.js";
import { StatusBadge } from "../Elements.js";

interface Props {
  readonly analytics: ShowAnalytics;
  readonly connection: Connection;
  readonly isPolled: boolean;
  /** Buttons. */
  readonly children?: ComponentChildren;
}

export function ShowHeader({ analytics, connection: { phase }, isPolled, children }: Props) {
  const { name, status, startedAt, endedAt, durationSeconds, host, watchingNow } = analytics;
  return (
    <header class="show-header">
      <div>
        <h1>
          <span dir="auto">{name}</span> <StatusBadge status={status} />
        </h1>
        <p class="muted">
          {status === "SCHEDULED" ? "Starts" : "Started"} <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
          <span class="sep">
            {status === "SCHEDULED" ? (
              <Waiting startedAt={startedAt} />
            ) : typeof endedAt === "string" ? (
              `lasted ${formatDuration(durationSeconds)}`
            ) : (
              <Running startedAt={startedAt} />
            )}
          </span>
          {typeof watchingNow === "number" && <span class="sep">{formatCount(watchingNow)} watching now</span>}
          {host && (
            <span class="sep">
              hosted by <span dir="auto">{host.name}</span>
            </span>
          )}
        </p>
        <BeforeStart buckets={analytics.beforeStart} />
      </div>
      <div class="tools">
        <ConnectionStatus phase={phase} isPolled={isPolled} />
        {children}
      </div>
    </header>
  );
}

/** What happened before the show, which charts leave out because they begin with it; to the minute. */
function BeforeStart({ buckets }: { readonly buckets: ShowAnalytics["beforeStart"] }) {
  if (buckets.length === 0) return null;
  const most = Math.max(...buckets.map(({ viewers }) => viewers));
  const sum = (figure: "carts" | "orders") => buckets.reduce((all, bucket) => all + bucket[figure], 0);
  return (
    <p class="muted before">
      Before the start: most viewers at once {formatCount(most)}, added to cart {formatCount(sum("carts"))}, orders{" "}
      {formatCount(sum("orders"))}.
    </p>
  );
}

function Waiting({ startedAt }: { readonly startedAt: string }) {
  const seconds = Math.floor((Date.parse(startedAt) - useNow()) / 1_000);
  return <>{seconds > 0 ? `in ${formatDuration(seconds)}` : "not live yet"}</>;
}

function Running({ startedAt }: { readonly startedAt: string }) {
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(startedAt)) / 1_000));
  return <>running for {formatDuration(seconds)}</>;
}
