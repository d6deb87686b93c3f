import { formatDuration, formatMoment } from "../format.js";
import type { ShowAnalytics } from "../operations.js";
import type { Connection } from "../reconnect.js";
import { useNow } from "../hooks/useNow.js";
import { StatusBadge } from "./Elements.js";

interface Props {
  readonly analytics: ShowAnalytics;
  readonly connection: Connection;
}

const phases: Readonly<Record<Connection["phase"], string>> = {
  connecting: "Connecting…",
  open: "Up to date",
  waiting: "Reconnecting…",
  failed: "Stopped",
};

/** The name, times and status of the show, and whether its figures are up to date. */
export function ShowHeader({ analytics, connection }: Props) {
  const { name, status, startedAt, endedAt, host } = analytics;
  return (
    <header class="show-header">
      <div>
        <h1>
          {name} <StatusBadge status={status} />
        </h1>
        <p class="muted">
          Started <time dateTime={startedAt}>{formatMoment(startedAt)}</time>
          <span class="sep">
            {typeof endedAt === "string" ? <Length {...{ startedAt, endedAt }} /> : <Running startedAt={startedAt} />}
          </span>
          {host && <span class="sep">hosted by {host.name}</span>}
        </p>
      </div>
      <p class="connection" role="status" data-phase={connection.phase}>
        {phases[connection.phase]}
      </p>
    </header>
  );
}

function Running({ startedAt }: { readonly startedAt: string }) {
  const seconds = Math.max(0, Math.floor((useNow() - Date.parse(startedAt)) / 1_000));
  return <>running for {formatDuration(seconds)}</>;
}

function Length({ startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string }) {
  return <>lasted {formatDuration((Date.parse(endedAt) - Date.parse(startedAt)) / 1_000)}</>;
}
