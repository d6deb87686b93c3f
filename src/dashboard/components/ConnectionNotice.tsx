import type { FailureKind } from "../failure.js";
import { formatExactClock } from "../format.js";
import { type Connection, retryNow } from "../reconnect.js";
import { useNow } from "../hooks/useNow.js";

interface Props {
  readonly connection: Connection;
  /** Whether older figures are shown below. */
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

/** Says what is wrong, what happens next, and offers to try at once. Silent while all is well. */
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

/** Counts down; it is no part of what is announced, which would be said every second. */
function NextTry({ untilMs }: { readonly untilMs: number }) {
  const seconds = Math.max(0, Math.ceil((untilMs - useNow(500)) / 1_000));
  return (
    <p class="small">
      Goes on at {formatExactClock(untilMs)}, in {seconds} s.
    </p>
  );
}
