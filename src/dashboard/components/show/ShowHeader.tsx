import { formatDuration, formatMoment } from "../../format.js";
import type { ShowAnalytics } from "../../queries/show.js";
import type { Connection } from "../../connection/reconnect.js";
import { useNow } from "../../hooks/useNow.js";
import { ConnectionStatus } from "../ConnectionNotice.js";
import { StatusBadge } from "../Elements.js";

interface Props {
  readonly analytics: ShowAnalytics;
  readonly connection: Connection;
  readonly isPolled: boolean;
}

export function ShowHeader({ analytics, connection: { phase }, isPolled }: Props) {
  const { name, status, startedAt, endedAt, durationSeconds, host } = analytics;
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
          {host && (
            <span class="sep">
              hosted by <span dir="auto">{host.name}</span>
            </span>
          )}
        </p>
      </div>
      <ConnectionStatus phase={phase} isPolled={isPolled} />
    </header>
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
