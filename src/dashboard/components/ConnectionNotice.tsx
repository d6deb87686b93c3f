import type { FailureKind } from "../connection/failure.js";
import { formatExactClock } from "../format.js";
import { type Connection, retryNow } from "../connection/reconnect.js";
import { pollMs } from "../connection/polling.js";
import { useEffect, useState, useLayoutEffect } from "preact/hooks";

interface Props {
  readonly connection: Connection;
  /** Whether earlier figures are still shown. */
  readonly hasFigures: boolean;
  readonly isPolled: boolean;
}

const titles: Readonly<Record<FailureKind, string>> = {
  unauthenticated: "The access token no longer works",
  forbidden: "The access token does not allow this",
  rateLimited: "Rate limit reached",
  notFound: "There is no such show",
  unreachable: "The connection is lost",
  broken: "Server error",
  refused: "The figures cannot be read",
};

const phases: Readonly<Record<Connection["phase"], string>> = {
  connecting: "Connecting…",
  open: "Up to date",
  waiting: "Reconnecting…",
  failed: "Stopped",
};

export function ConnectionStatus({ phase, isPolled = false }: Pick<Connection, "phase"> & { isPolled?: boolean }) {
  const isDelayed = phase === "open" && isPolled;
  return (
    <p class="connection" role="status" data-phase={isDelayed ? "delayed" : phase}>
      {isDelayed ? "Delayed" : phases[phase]}
    </p>
  );
}

/** Describes a connection problem and the next attempt, and offers to retry now. Renders nothing while live figures arrive. */
export function ConnectionNotice({ connection, hasFigures, isPolled }: Props) {
  if (connection.phase === "open") return isPolled ? <HeldBackNotice /> : null;
  if (connection.phase === "connecting") return null;
  const { failure } = connection;
  return (
    <section class="notice" aria-label="Connection" data-kind={failure.kind}>
      <div>
        <p role="alert">
          <strong>{titles[failure.kind]}.</strong> {failure.message}
          {hasFigures && " The figures below are the last that arrived."}
        </p>
        {connection.phase === "waiting" && <NextTry untilMs={connection.untilMs} />}
      </div>
      {failure.kind !== "rateLimited" && (
        <button type="button" onClick={retryNow}>
          Try now
        </button>
      )}
    </section>
  );
}

function HeldBackNotice() {
  return (
    <section class="notice" aria-label="Connection" data-kind="heldBack">
      <div>
        <p role="alert">
          <strong>A proxy seems to hold live figures back.</strong> The server answers, but nothing arrives from its
          stream. Until it does, the figures are read every {pollMs / 1_000} seconds.
        </p>
        <p class="small">
          Whoever runs the proxy must turn its buffering off for <code>/graphql</code>; in nginx:{" "}
          <code>proxy_buffering off;</code>. <code>docs/dashboard.md</code> has more, under “Proxies”.
        </p>
      </div>
    </section>
  );
}

/** The countdown. It is outside of the alert, because screen readers would announce it every second. */
function NextTry({ untilMs }: { readonly untilMs: number }) {
  const seconds = Math.max(0, Math.ceil((untilMs - useNow(500)) / 1_000));
  return (
    <p class="small">
      Next attempt at {formatExactClock(untilMs)}, in {seconds} s.
    </p>
  );
}

/** The current time in milliseconds since 1970, updated at an interval. */
export function useNow(intervalMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

/** Sets the page's title, and calls `onTokenEnd` if the token no longer works. */
export function usePage(title: string, connection: Connection, onTokenEnd: () => void): void {
  const isTokenEnded = connection.phase === "failed" && connection.failure.kind === "unauthenticated";
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (isTokenEnded) onTokenEnd();
  }, [isTokenEnded, onTokenEnd]);
}
