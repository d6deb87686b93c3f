import { useLayoutEffect, useRef } from "preact/hooks";
import { query } from "../connection/api.js";
import { asFailure } from "../connection/failure.js";
import { useForm, Brand, Problem } from "./Elements.js";
import { showsQuery } from "../queries/show.js";
import { isSendable, whyRefused } from "../session.js";

interface Props {
  readonly reason: string | undefined;
  readonly onToken: (token: string) => void;
}

const tokenInput = { type: "password", autocomplete: "off", autocapitalize: "off", spellcheck: false } as const;

export function SignIn({ reason, onToken }: Props) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    document.title = "Sign in – Vitrine";
    input.current?.focus();
  }, []);

  const { problem, isSending, onSubmit } = useForm(async () => {
    const token = input.current?.value.trim() ?? "";
    const found = await problemOf(token);
    if (found === undefined) onToken(token);
    else input.current?.focus();
    return found;
  }, reason);
  return (
    <main class="sign-in">
      <form class="card fields" onSubmit={onSubmit}>
        <Brand />
        <h1>Live shows</h1>
        <p class="muted">See how your shows perform, as it happens. Your store’s access token opens the dashboard.</p>
        <label for="token">Access token</label>
        <input
          id="token"
          ref={input}
          {...tokenInput}
          placeholder="vt_…"
          aria-describedby="token-problem token-hint"
          aria-invalid={problem !== undefined}
        />
        <Problem id="token-problem" text={problem} />
        <button class="primary" type="submit" aria-disabled={isSending}>
          {isSending ? "Opening…" : "Open dashboard"}
        </button>
        <p id="token-hint" class="muted small">
          The token stays in this tab until you close it.
        </p>
      </form>
    </main>
  );
}

/** Why the server refuses a token; undefined if the token is valid. */
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
