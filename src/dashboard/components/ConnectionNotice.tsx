import type { FailureKind } from "../failure.js";
import { formatExactClock } from "../format.js";
import { type Connection, retryNow } from "../reconnect.js";
import { useNow } from "../hooks/useNow.js";

interface Props {
  readonly connection: Connection;
  /** Whether earlier figures are still shown. */
  readonly hasFigures: boolean;
}

const titles: Readonly<Record<FailureKind, string>> = {
  unauthenticated: "The access token no longer works",
  rateLimited: "The limit of calls is reached",
  notFound: "There is no such show",
  unreachable: "The connection is lost",
  broken: "The server made a mistake",
  refused: "The figures cannot be read",
};

/** Describes a connection problem and the next attempt, and offers to retry now. Empty while connected. */
export function ConnectionNotice({ connection, hasFigures }: Props) {
  if (connection.phase === "open" || connection.phase === "connecting") return null;
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

/** The countdown, outside of the alert, which screen readers would otherwise announce every second. */
function NextTry({ untilMs }: { readonly untilMs: number }) {
  const seconds = Math.max(0, Math.ceil((untilMs - useNow(500)) / 1_000));
  return (
    <p class="small">
      Next attempt at {formatExactClock(untilMs)}, in {seconds} s.
    </p>
  );
}
