import type { TargetedSubmitEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { query } from "../api.js";
import { asFailure } from "../failure.js";
import { showsQuery } from "../operations.js";
import { isSendable, whyRefused } from "../session.js";
import { Brand } from "./Elements.js";

interface Props {
  readonly reason: string | undefined;
  readonly onToken: (token: string) => void;
}

export function SignIn({ reason, onToken }: Props) {
  const [problem, setProblem] = useState(reason);
  const [isTrying, setTrying] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    document.title = "Sign in – Vitrine";
    input.current?.focus();
  }, []);

  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = input.current?.value.trim() ?? "";
    setTrying(true);
    const found = await problemOf(token);
    setTrying(false);
    if (found === undefined) return onToken(token);
    setProblem(found);
    input.current?.focus();
  };

  return (
    <main class="sign-in">
      <form class="card fields" onSubmit={(event) => void submit(event)}>
        <Brand />
        <h1>Live shows</h1>
        <p class="muted">See how your shows perform, as it happens. Your store’s access token opens the dashboard.</p>
        <label for="token">Access token</label>
        <input
          id="token"
          ref={input}
          type="password"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="vt_…"
          aria-describedby="token-problem token-hint"
          aria-invalid={problem !== undefined}
        />
        <p id="token-problem" class="problem" role="alert">
          {problem}
        </p>
        <button class="primary" type="submit" aria-disabled={isTrying}>
          {isTrying ? "Opening…" : "Open dashboard"}
        </button>
        <p id="token-hint" class="muted small">
          The token stays in this tab until you close it.
        </p>
      </form>
    </main>
  );
}

/** Why a token is refused; undefined where it is valid. */
async function problemOf(token: string): Promise<string | undefined> {
  if (token === "") return "Enter your access token.";
  if (!isSendable(token)) return whyRefused(token, false);
  try {
    await query(showsQuery, { first: 1 }, { token });
    return undefined;
  } catch (error) {
    const { kind, message } = asFailure(error);
    if (kind === "unauthenticated") return whyRefused(token, false);
    return kind === "forbidden" ? `${message} The dashboard needs it.` : `${message} Try again in a moment.`;
  }
}
